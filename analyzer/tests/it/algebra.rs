//! Laws of the difference, on random values.

use driftgate::{
    diff::{alike, diff},
    number::Number,
    value::Value,
};
use proptest::{collection, prelude::*};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?(e[+-]?[0-9]{1,3})?"
            .prop_map(|text| Value::Number(Number::new(&text))),
        "[a-c]{0,3}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            collection::btree_map("[a-c]", inner, 0..4).prop_map(Value::Object),
        ]
    })
}

proptest! {
    #[test]
    fn equals_do_not_differ(value in value()) {
        prop_assert_eq!(diff(&value, &value), []);
    }

    #[test]
    fn swapping_the_sides_swaps_each_change(left in value(), right in value()) {
        let forth = diff(&left, &right);
        let mut back = diff(&right, &left);
        for change in &mut back {
            std::mem::swap(&mut change.before, &mut change.after);
        }
        prop_assert_eq!(forth, back);
    }

    #[test]
    fn every_change_is_where_it_says(left in value(), right in value()) {
        for change in diff(&left, &right) {
            prop_assert_eq!(change.path.find(&left), change.before.as_ref());
            prop_assert_eq!(change.path.find(&right), change.after.as_ref());
        }
    }

    #[test]
    fn unequal_values_differ(left in value(), right in value()) {
        prop_assert_eq!(left == right, diff(&left, &right).iter().all(|change| {
            // Spelling is the one difference between equals.
            change.noise == Some(driftgate::noise::Noise::NumberSpelling)
        }));
    }

    #[test]
    fn the_order_of_a_list_is_noise(items in collection::vec(value(), 0..6)) {
        let list = Value::List(items.clone());
        let reversed = Value::List(items.into_iter().rev().collect());
        prop_assert!(alike(Some(&list), Some(&reversed)));
    }

    #[test]
    fn ordering_agrees_with_equality(left in value(), right in value()) {
        prop_assert_eq!(left == right, left.order(&right) == std::cmp::Ordering::Equal);
        prop_assert_eq!(left.order(&right), right.order(&left).reverse());
    }
}
