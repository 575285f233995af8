//! What needs no command line of the matrix.

mod kill;
#[cfg(test)]
mod tidy;
