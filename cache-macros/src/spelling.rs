//! How types are spelt, as far as tokens can tell.

use syn::{
    GenericArgument, PathArguments, PathSegment, Token, Type, TypeParamBound,
    punctuated::Punctuated,
};

/// The types that have a name without being declared.
pub(crate) const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16",
    "u32", "u64", "u128", "usize",
];

type Bounds = Punctuated<TypeParamBound, Token![+]>;

/// Whether it is a boxed future: `Pin<Box<dyn Future>>`, or that by the names of `futures`.
pub(crate) fn is_boxed_future(ty: &Type) -> bool {
    boxed_output(ty).is_some()
        || last_segment(ty)
            .is_some_and(|last| last.ident == "BoxFuture" || last.ident == "LocalBoxFuture")
}

/// Whether it is `str`, a slice or a trait object, which are there only behind a pointer.
pub(crate) fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    }
}

/// The `R` of `Pin<Box<dyn Future<Output = R> + …>>`.
pub(crate) fn boxed_output(ty: &Type) -> Option<&Type> {
    let future = bound(pinned_bounds(ty)?, "Future")?;
    let PathArguments::AngleBracketed(arguments) = &future.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
        _ => None,
    })
}

/// The bounds of the trait object in `Pin<Box<dyn …>>`.
fn pinned_bounds(ty: &Type) -> Option<&Bounds> {
    let pin = last_segment(ty).filter(|segment| segment.ident == "Pin")?;
    let inner = first_type(pin)
        .and_then(last_segment)
        .filter(|segment| segment.ident == "Box")?;
    match first_type(inner)? {
        Type::TraitObject(object) => Some(&object.bounds),
        _ => None,
    }
}

/// The trait of that name among the bounds.
fn bound<'a>(bounds: &'a Bounds, name: &str) -> Option<&'a PathSegment> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .filter(|segment| segment.ident == name),
        _ => None,
    })
}

/// The last segment of a type that is a path.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// Whether a type is spelt as a `Result`, of whatever crate; where it matters, the compiler decides by the type itself.
pub(crate) fn is_result(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|last| last.ident.to_string().ends_with("Result"))
}

/// Whether it is spelt as a primitive or a reference, which has 16 bytes at most.
pub(crate) fn is_small(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) => true,
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| PRIMITIVES.iter().any(|primitive| name == primitive)),
        _ => false,
    }
}

/// Whether a type is an array or a reference to one.
pub(crate) fn is_array(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Reference(reference) => is_array(&reference.elem),
        Type::Group(group) => is_array(&group.elem),
        Type::Paren(paren) => is_array(&paren.elem),
        _ => false,
    }
}

/// The first type among the arguments of a segment: the `T` of `Result<T, E>`.
pub(crate) fn first_type(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The types that `ty` is made of: elements, and arguments of paths.
pub(crate) fn parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Array(ty) => vec![&ty.elem],
        Type::Group(ty) => vec![&ty.elem],
        Type::Paren(ty) => vec![&ty.elem],
        Type::Ptr(ty) => vec![&ty.elem],
        Type::Reference(ty) => vec![&ty.elem],
        Type::Slice(ty) => vec![&ty.elem],
        Type::Tuple(ty) => ty.elems.iter().collect(),
        Type::Path(ty) => ty.path.segments.iter().flat_map(arguments).collect(),
        _ => Vec::new(),
    }
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

/// The first of `ty` and the types it is made of that passes the test.
pub(crate) fn find<'a>(ty: &'a Type, test: &impl Fn(&Type) -> bool) -> Option<&'a Type> {
    if test(ty) {
        Some(ty)
    } else {
        parts(ty).into_iter().find_map(|part| find(part, test))
    }
}

/// The `impl Trait` in a type.
pub(crate) fn opaque(ty: &Type) -> Option<&Type> {
    find(ty, &|ty| matches!(ty, Type::ImplTrait(_)))
}

/// Whether it is `impl Future`.
pub(crate) fn is_future(ty: &Type) -> bool {
    matches!(ty, Type::ImplTrait(ty) if bound(&ty.bounds, "Future").is_some())
}

/// Whether it is a stream: `impl Stream`, `Pin<Box<dyn Stream>>`, or that by the names of `futures`, `BoxStream<'a, T>`.
pub(crate) fn is_stream(ty: &Type) -> bool {
    let bounds = match ty {
        Type::ImplTrait(ty) => Some(&ty.bounds),
        _ => pinned_bounds(ty),
    };
    let named = last_segment(ty)
        .is_some_and(|last| last.ident == "BoxStream" || last.ident == "LocalBoxStream");
    // A user's own type may have that name; that of `futures` has a lifetime.
    bounds.is_some_and(|bounds| bound(bounds, "Stream").is_some())
        || (named && (borrows(ty) || borrows_static(ty)))
}

/// Whether this type itself names a lifetime other than `'static`.
pub(crate) fn borrows(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static"),
        Type::Path(path) => path.path.segments.iter().any(|segment| {
            matches!(&segment.arguments, PathArguments::AngleBracketed(arguments) if arguments.args.iter().any(
                |argument| matches!(argument, GenericArgument::Lifetime(lifetime) if lifetime.ident != "static")
            ))
        }),
        _ => false,
    }
}

/// Whether this type itself names `'static`, other than in a `Cow`, which owns what it deserialises.
pub(crate) fn borrows_static(ty: &Type) -> bool {
    let is_static = |lifetime: &syn::Lifetime| lifetime.ident == "static";
    match ty {
        Type::Reference(reference) => reference.lifetime.as_ref().is_some_and(is_static),
        Type::Path(path) => path.path.segments.iter().any(|segment| {
            segment.ident != "Cow"
                && matches!(&segment.arguments, PathArguments::AngleBracketed(arguments) if arguments.args.iter().any(
                    |argument| matches!(argument, GenericArgument::Lifetime(lifetime) if is_static(lifetime))
                ))
        }),
        _ => false,
    }
}

/// The error type in a return type, if that is spelt as a `Result` with one; else the type as a whole.
pub(crate) fn error_or_all(ty: &Type) -> &Type {
    let Some(last) = last_segment(ty).filter(|_| is_result(ty)) else {
        return ty;
    };
    arguments(last).nth(1).unwrap_or(ty)
}

/// By convention a generic parameter, of types or of constants: `T`, `N`, `ROWS`, or what belongs to one.
pub(crate) fn may_be_generic(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.first().is_some_and(|first| {
        first
            .ident
            .to_string()
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

/// Whether this type itself may stand for one that borrows, without showing it: what is generic, or belongs to what is, `Self`, an
/// object with a lifetime.
pub(crate) fn may_hide_a_borrow(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            path.qself.is_some()
                || path.path.segments.first().is_some_and(|first| first.ident == "Self")
                || may_be_generic(ty)
        }
        Type::TraitObject(object) => object.bounds.iter().any(
            |bound| matches!(bound, TypeParamBound::Lifetime(lifetime) if lifetime.ident != "static"),
        ),
        _ => false,
    }
}
