use super::*;

fn naming(signature: &str) -> Naming {
    Naming::new(&syn::parse_str(signature).unwrap(), Span::call_site())
}

fn compact(tokens: impl ToString) -> String {
    tokens.to_string().replace(' ', "")
}

fn name(ty: &str) -> Option<String> {
    let ty = syn::parse_str(ty).unwrap();
    naming("fn f<Own, const SIZE: usize>()")
        .name(&ty)
        .map(compact)
}

#[test]
fn types_are_named_as_the_function_names_them() {
    for (ty, expected) in [
        ("u64", "u64"),
        ("Vec<Option<Product>>", "Vec<Option<Product>>"),
        ("self::Product", "self::Product"),
        ("super::shop::Product", "super::shop::Product"),
        ("crate::Product", "crate::Product"),
        ("::shop::Product", "::shop::Product"),
        (
            "std::sync::Arc<[self::P; 3]>",
            "std::sync::Arc<[self::P;3]>",
        ),
        (
            "Result<Cow<'a, str>, Error>",
            "Result<Cow<'static,str>,Error>",
        ),
        ("(u8, &'a mut [u8])", "(u8,&'staticmut[u8])"),
        ("Vec<T>", "Vec<T>"),
    ] {
        assert_eq!(name(ty).as_deref(), Some(expected), "{ty}");
    }
}

#[test]
fn what_may_not_mean_the_same_there_is_left_unknown() {
    for ty in [
        "Own",
        "Vec<Own>",
        "Own::Row",
        "Self",
        "Vec<Self::Row>",
        "[u8; SIZE]",
        "Grid<3>",
        "Grid<N>",
        "Page<Vec<T>>",
        "<R as Repository>::Row",
        "Vec<impl Clone>",
        "Box<dyn Named>",
        "fn(u8) -> u8",
        "made!()",
        "_",
    ] {
        assert_eq!(name(ty), None, "{ty}");
    }
}

#[test]
fn references_do_not_tell_keys_apart() {
    let ty = syn::parse_str("&'a &mut str").unwrap();
    assert_eq!(
        naming("fn f()").name_key(&ty).map(compact).as_deref(),
        Some("str")
    );
}

#[test]
fn every_name_that_may_not_be_found_has_a_fallback() {
    let mut naming = naming("fn f()");
    for ty in [
        "Page<u8>",
        "Page<u8, Row>",
        "shop::Id<'a>",
        "shop::inner::Id",
        "std::time::Duration",
        "crate::X",
    ] {
        naming.name(&syn::parse_str(ty).unwrap()).unwrap();
    }
    let function = compact(naming.function(&TokenStream::new(), &TokenStream::new()));
    for fallback in [
        "pubstructPage<A0:?::core::marker::Sized=(),A1:?::core::marker::Sized=(),>",
        "pubstructRow<>",
        "pubmodshop{pubstructId<'a0,>(::core::marker::PhantomData<&'a0()>,);pubmodinner{pubstructId<>();}}",
    ] {
        assert!(function.contains(fallback), "{fallback} in {function}");
    }
    assert!(
        !function.contains("structDuration") && !function.contains("structX"),
        "{function}"
    );
}

#[test]
fn a_name_that_is_both_a_type_and_a_module_is_left_unknown() {
    let mut naming = naming("fn f()");
    assert!(naming.name(&syn::parse_str("shop::Id").unwrap()).is_some());
    assert!(
        naming
            .name(&syn::parse_str("(Other, shop)").unwrap())
            .is_none()
    );
    let function = compact(naming.function(&TokenStream::new(), &TokenStream::new()));
    assert!(!function.contains("Other"), "{function}");
}
