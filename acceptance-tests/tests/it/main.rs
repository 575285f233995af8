//! What needs no command line of the matrix.

mod tidy;
