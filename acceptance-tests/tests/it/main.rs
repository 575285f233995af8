//! What needs no command line of the matrix.

mod calls;
mod ground;
mod kill;
mod plugin;
mod properties;
#[cfg(test)]
mod tidy;
