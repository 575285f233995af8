//! The functions: values made of values, one a file. The host is never asked.
//!
//! Amounts are read and printed as resources and the host do it: exact, or not at all.

mod fits;
mod format_quantity;
mod parse_quantity;
mod quantities;
mod sum_quantities;

use self::{
    fits::Fits, format_quantity::FormatQuantity, parse_quantity::ParseQuantity,
    sum_quantities::SumQuantities,
};
use crate::framework::Function;

/// All functions, sorted by name.
pub static FUNCTIONS: &[&dyn Function] = &[&Fits, &FormatQuantity, &ParseQuantity, &SumQuantities];
