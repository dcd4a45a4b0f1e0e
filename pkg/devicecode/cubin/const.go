package cubin

// Machine is e_machine of a cubin, EM_CUDA.
const Machine = 190

// The ABIs that are known, by EI_OSABI and EI_ABIVERSION.
const (
	osABI7 = 0x33 // ELFOSABI_CUDA
	osABI8 = 0x41 // ELFOSABI_CUDA_V2
)

const (
	headerSize        = 64
	sectionHeaderSize = 64
	programHeaderSize = 56
	symbolSize        = 24
	noteHeaderSize    = 12
)

// flag7Specific in the e_flags of ABI 7 is EF_CUDA_ACCELERATORS_V1: the target
// has suffix a. Libraries of 11.8 have it on some cubins for sm_50 to sm_61
// too, where no such suffix exists.
const flag7Specific = 0x800

const (
	typeRel  = 1
	typeExec = 2

	sectionSymtab = 2
	sectionNoBits = 8
	// sectionShared is the shared memory of a kernel in a relocatable cubin,
	// .nv.shared.<kernel>. It takes no bytes in the file: the offset is that of
	// whatever comes next (seen with nvcc 11.8).
	sectionShared = 0x7000000a

	undefined = 0      // st_shndx of a symbol that is not defined here
	extended  = 0xffff // SHN_XINDEX
	reserved  = 0xff00 // SHN_LORESERVE
)

// Symbol types. Relocatable cubins give variables a type of their own.
// Texture and surface references, which are in no section, were seen with nvcc
// 11.8; CUDA 12.0 removed them.
const (
	symbolObject     = 1
	symbolFunc       = 2
	symbolTexture    = 10
	symbolSurface    = 12
	symbolCUDAObject = 13

	otherEntry = 0x10 // STO_CUDA_ENTRY in st_other: a kernel
)

const (
	noteToolkit = 2000 // type of the note in .note.nv.tkinfo
	noteCUDA    = 1000 // type of the note in .note.nv.cuinfo
)
