//! Values of one type that differ never share a text; equal ones always do.
//!
//! A [`Shape`] is a type; the values of a pair are drawn from one shape, and from few leaves, so that near misses are
//! common.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::{collection::vec, prelude::*, sample::select, strategy::LazyJust};
use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap as _, SerializeSeq as _, SerializeStruct as _, SerializeStructVariant as _,
        SerializeTuple as _, SerializeTupleVariant as _,
    },
};

use super::{argument, by_hand};
use crate::key::{Hashed, KeyText};

const NAMES: [&str; 4] = ["a", "b", "some", "null"];

/// What one type can be to serde.
#[derive(Clone, Debug)]
enum Shape {
    Unit,
    UnitStruct,
    Bool,
    Integer,
    Wide,
    Float,
    Character,
    Text,
    Bytes,
    Option(Box<Shape>),
    Newtype(Box<Shape>),
    Hashed(Box<Shape>),
    Sequence(Box<Shape>),
    Map(Box<Shape>, Box<Shape>),
    Tuple(Vec<Shape>),
    /// Its fields may be skipped.
    Struct(Vec<Shape>),
    /// A unit, a newtype, a tuple and a struct variant.
    Enum(Box<Shape>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Unit,
    UnitStruct,
    Bool(bool),
    Integer(i64),
    Wide(i128),
    Float(u64),
    Character(char),
    Text(String),
    Bytes(Vec<u8>),
    Option(Option<Box<Value>>),
    Newtype(Box<Value>),
    Hashed(Box<Value>),
    Sequence(Vec<Value>),
    Map(BTreeMap<Value, Value>),
    Tuple(Vec<Value>),
    Struct(Vec<Option<Value>>),
    UnitVariant(usize),
    NewtypeVariant(Box<Value>),
    TupleVariant(Box<Value>, Box<Value>),
    StructVariant(Box<Value>),
}

/// A value, and whether its maps are walked from their end.
struct Written<'a>(&'a Value, bool);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, back) = *self;
        let inner = |value| Written(value, back);
        match value {
            Value::Unit => serializer.serialize_unit(),
            Value::UnitStruct => serializer.serialize_unit_struct("Unit"),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::Wide(value) => serializer.serialize_i128(*value),
            Value::Float(bits) => serializer.serialize_f64(f64::from_bits(*bits)),
            Value::Character(value) => serializer.serialize_char(*value),
            Value::Text(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.serialize_bytes(value),
            Value::Option(None) => serializer.serialize_none(),
            Value::Option(Some(value)) => serializer.serialize_some(&inner(value)),
            Value::Newtype(value) => serializer.serialize_newtype_struct("Newtype", &inner(value)),
            Value::Hashed(value) => Hashed(inner(value)).serialize(serializer),
            Value::Sequence(values) => {
                let mut items = serializer.serialize_seq(None)?;
                values
                    .iter()
                    .try_for_each(|value| items.serialize_element(&inner(value)))?;
                items.end()
            }
            Value::Map(values) => {
                let mut entries = serializer.serialize_map(Some(values.len()))?;
                let mut write = |(key, value)| entries.serialize_entry(&inner(key), &inner(value));
                if back {
                    values.iter().rev().try_for_each(&mut write)
                } else {
                    values.iter().try_for_each(write)
                }?;
                entries.end()
            }
            Value::Tuple(values) => {
                let mut items = serializer.serialize_tuple(values.len())?;
                values
                    .iter()
                    .try_for_each(|value| items.serialize_element(&inner(value)))?;
                items.end()
            }
            Value::Struct(values) => {
                let mut fields = serializer.serialize_struct("Struct", values.len())?;
                for (name, value) in NAMES.iter().zip(values) {
                    match value {
                        Some(value) => fields.serialize_field(name, &inner(value))?,
                        None => fields.skip_field(name)?,
                    }
                }
                fields.end()
            }
            Value::UnitVariant(index) => {
                serializer.serialize_unit_variant("Enum", 0, NAMES[*index])
            }
            Value::NewtypeVariant(value) => {
                serializer.serialize_newtype_variant("Enum", 4, "new", &inner(value))
            }
            Value::TupleVariant(one, two) => {
                let mut items = serializer.serialize_tuple_variant("Enum", 5, "two", 2)?;
                items.serialize_field(&inner(one))?;
                items.serialize_field(&inner(two))?;
                items.end()
            }
            Value::StructVariant(value) => {
                let mut fields = serializer.serialize_struct_variant("Enum", 6, "named", 1)?;
                fields.serialize_field("a", &inner(value))?;
                fields.end()
            }
        }
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = select(vec![
        Shape::Unit,
        Shape::UnitStruct,
        Shape::Bool,
        Shape::Integer,
        Shape::Wide,
        Shape::Float,
        Shape::Character,
        Shape::Text,
        Shape::Bytes,
    ]);
    leaf.prop_recursive(5, 24, 4, |shape| {
        let boxed = shape.clone().prop_map(Box::new);
        prop_oneof![
            3 => boxed.clone().prop_map(Shape::Option),
            1 => boxed.clone().prop_map(Shape::Newtype),
            1 => boxed.clone().prop_map(Shape::Hashed),
            1 => boxed.clone().prop_map(Shape::Sequence),
            2 => (boxed.clone(), boxed.clone()).prop_map(|(key, value)| Shape::Map(key, value)),
            1 => vec(shape.clone(), 1..4).prop_map(Shape::Tuple),
            1 => vec(shape, 0..4).prop_map(Shape::Struct),
            1 => boxed.prop_map(Shape::Enum),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    let telling = [
        "",
        "a",
        "b",
        "null",
        "true",
        "42",
        "1.0",
        "\"",
        "\"a\"",
        "[]",
        "{}",
        "{unit}",
        "{some:null}",
        "#",
        "a,b",
        "a\",\"b",
        "\0",
        "\\u0000",
        "\n",
        "\\n",
        "\u{7f}",
        "ü",
        "default-cache-key",
        "]",
        "}",
    ];
    prop_oneof![4 => select(telling.map(String::from).to_vec()), 1 => any::<String>()]
}

fn values(shape: &Shape) -> BoxedStrategy<Value> {
    match shape {
        Shape::Unit => LazyJust::new(|| Value::Unit).boxed(),
        Shape::UnitStruct => LazyJust::new(|| Value::UnitStruct).boxed(),
        Shape::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Shape::Integer => prop_oneof![-1..3i64, any::<i64>()]
            .prop_map(Value::Integer)
            .boxed(),
        Shape::Wide => prop_oneof![-1..3i128, any::<i128>()]
            .prop_map(Value::Wide)
            .boxed(),
        Shape::Float => prop_oneof![
            select(vec![0.0, -0.0, 1.0, 1e16]),
            proptest::num::f64::NORMAL
        ]
        .prop_map(|float| Value::Float(float.to_bits()))
        .boxed(),
        Shape::Character => prop_oneof![select(vec!['a', '1', '"', '\\', '\n']), any::<char>()]
            .prop_map(Value::Character)
            .boxed(),
        Shape::Text => texts().prop_map(Value::Text).boxed(),
        Shape::Bytes => vec(0..3u8, 0..5).prop_map(Value::Bytes).boxed(),
        Shape::Option(shape) => proptest::option::of(values(shape).prop_map(Box::new))
            .prop_map(Value::Option)
            .boxed(),
        Shape::Newtype(shape) => values(shape)
            .prop_map(|value| Value::Newtype(Box::new(value)))
            .boxed(),
        Shape::Hashed(shape) => values(shape)
            .prop_map(|value| Value::Hashed(Box::new(value)))
            .boxed(),
        Shape::Sequence(shape) => vec(values(shape), 0..3).prop_map(Value::Sequence).boxed(),
        Shape::Map(key, value) => proptest::collection::btree_map(values(key), values(value), 0..4)
            .prop_map(Value::Map)
            .boxed(),
        Shape::Tuple(shapes) => shapes
            .iter()
            .map(values)
            .collect::<Vec<_>>()
            .prop_map(Value::Tuple)
            .boxed(),
        Shape::Struct(shapes) => {
            let fields = shapes
                .iter()
                .map(|shape| proptest::option::of(values(shape)))
                .collect::<Vec<_>>();
            fields.prop_map(Value::Struct).boxed()
        }
        Shape::Enum(shape) => {
            let content = values(shape).prop_map(Box::new);
            prop_oneof![
                (0..NAMES.len()).prop_map(Value::UnitVariant),
                content.clone().prop_map(Value::NewtypeVariant),
                (content.clone(), content.clone())
                    .prop_map(|(one, two)| Value::TupleVariant(one, two)),
                content.prop_map(Value::StructVariant),
            ]
            .boxed()
        }
    }
}

/// Several values of one type.
fn siblings() -> impl Strategy<Value = Vec<Value>> {
    shapes().prop_flat_map(|shape| vec(values(&shape), 2..8))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn values_that_differ_never_meet(values in siblings()) {
        let different: BTreeSet<_> = values.iter().collect();
        let alone: BTreeSet<_> = different.iter().map(|value| argument(&Written(value, false))).collect();
        prop_assert_eq!(alone.len(), different.len(), "{:?}", alone);
        let hashed: BTreeSet<_> = different.iter().map(|value| argument(&Hashed(Written(value, false)))).collect();
        prop_assert_eq!(hashed.len(), different.len());
    }

    #[test]
    fn lists_of_parts_that_differ_never_meet(values in siblings()) {
        let pairs: BTreeSet<_> = values.iter().zip(values.iter().skip(1)).collect();
        let texts: BTreeSet<_> = pairs.iter().map(|(one, two)| by_hand(&(Written(one, false), Written(two, false)))).collect();
        prop_assert_eq!(texts.len(), pairs.len(), "{:?}", texts);
    }

    #[test]
    fn equal_values_always_meet(values in siblings()) {
        for value in &values {
            let (forth, back) = (Written(value, false), Written(value, true));
            prop_assert_eq!(argument(&forth), argument(&back));
            prop_assert_eq!(by_hand(&forth), argument(&forth));
            let parts = KeyText::from_parts(2, None, |key| {
                key.part(&forth)?;
                key.hashed(&back)
            });
            prop_assert_eq!(Ok(parts?), KeyText::of(&(&back, Hashed(&forth)), None));
        }
    }

    #[test]
    fn no_text_is_long(values in siblings()) {
        for value in &values {
            prop_assert!(argument(&Written(value, false)).len() <= 512);
        }
    }

    #[test]
    fn hash_maps_meet_in_whatever_order_they_were_filled(entries in vec((texts(), any::<Option<i8>>()), 0..20)) {
        let map: HashMap<_, _> = entries.into_iter().collect();
        let mut again = HashMap::with_capacity(1_000);
        let mut sorted: Vec<_> = map.iter().collect();
        sorted.sort();
        again.extend(sorted);
        prop_assert_eq!(argument(&map), argument(&again));
    }

    #[test]
    fn strings_numbers_and_none_never_meet(string in texts(), number in any::<i64>(), float in proptest::num::f64::NORMAL) {
        let texts = [argument(&string), argument(&number), argument(&float), argument(&None::<()>), argument(&true), by_hand(&())];
        prop_assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len());
        let literal = texts[1].clone();
        prop_assert_eq!(argument(&literal), format!("\"{literal}\""));
    }
}
