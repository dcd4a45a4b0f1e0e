// Package archive gives the files inside archives: zip (wheels), tar, plain or
// compressed with gzip, xz, zstd or bzip2 (npm tarballs), .deb and conda
// packages, and lone compressed files.
//
// Archives are told by their content. What only carries is not a level of
// names: the files of a .deb are those of its control and data tar, those of a
// .conda package those of its inner tars.
//
// Nothing is written where an archive says: names are only names, links are not
// followed, and what is unpacked is bounded by a [Budget]. What cannot be read
// is a [Problem], and the other files are still given.
package archive
