//! The types of values and keys, named where they can be compared before the program calls anything.
//!
//! What registers a function is an item, and an item in a body cannot name the generics around it, of which an attribute
//! does not even see those of the `impl`. So first every name that may be a generic is declared anew, as an empty type; then
//! `use self::*`, one block further in, shows what the module around the function has under that name, if it has
//! anything. What is not found there (a generic, a type within a function, a crate) is the empty type, by whose place the
//! runtime knows that it was hidden.
//!
//! A type that could not be named even so, or whose fall-back might break a bound, is left unknown: it is compared at the
//! first call instead.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{
    Expr, GenericArgument, GenericParam, Lifetime, PathArguments, PathSegment, Signature, Type,
    TypePath,
};

use self::fallback::{Tree, insert};
use crate::{
    expand::located,
    spelling::{PRIMITIVES, find, may_be_generic},
};

mod fallback;

/// Types of the prelude, with the number of their arguments.
const PRELUDE: [(&str, usize); 5] = [
    ("Box", 1),
    ("Option", 1),
    ("Result", 2),
    ("String", 0),
    ("Vec", 1),
];

/// Types whose arguments are types without bounds, so that a fall-back may stand there.
const CONTAINERS: [&str; 12] = [
    "Arc", "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "Option", "Rc", "Result", "Vec",
    "VecDeque", "Weak",
];

/// Names types, and remembers which fall-backs they need.
pub(crate) struct Naming {
    /// The generics of the function.
    generics: Vec<Ident>,
    fallbacks: Tree,
    span: Span,
}

/// A path that may not be found, with the number of arguments of its last segment.
struct Use {
    path: Vec<Ident>,
    lifetimes: usize,
    types: usize,
}

/// What a path begins with that is found without being looked for.
const ROOTS: [&str; 7] = ["crate", "$crate", "self", "super", "std", "core", "alloc"];

/// Whether a stand-in may be all that is found of it: of what is generic, by convention, or of a path whose first segment may be
/// another crate.
fn may_be_hidden(ty: &Type) -> bool {
    let elsewhere = matches!(ty, Type::Path(path) if path.path.leading_colon.is_none()
        && path.path.segments.len() > 1
        && !ROOTS.iter().any(|root| path.path.segments[0].ident == root));
    elsewhere || may_be_generic(ty)
}

impl Naming {
    pub(crate) fn new(sig: &Signature, span: Span) -> Self {
        let generics = sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(param.ident.clone()),
            GenericParam::Const(param) => Some(param.ident.clone()),
            GenericParam::Lifetime(_) => None,
        });
        Self {
            generics: generics.collect(),
            fallbacks: Tree::new(),
            span,
        }
    }

    /// How `ty` is named within [`function`](Self::function); `None` if it cannot be.
    pub(crate) fn name(&mut self, ty: &Type) -> Option<TokenStream> {
        let mut ty = ty.clone();
        let mut uses = Vec::new();
        self.rewrite(&mut ty, &mut uses)?;
        // On a copy, so that a type which is left unknown after all leaves nothing behind.
        let mut fallbacks = self.fallbacks.clone();
        if !uses
            .iter()
            .all(|used| insert(&mut fallbacks, &used.path, used.lifetimes, used.types))
        {
            return None;
        }
        self.fallbacks = fallbacks;
        Some(located(ty.to_token_stream()))
    }

    /// How the type of a key part is named: references and lifetimes do not tell keys apart.
    pub(crate) fn name_key(&mut self, ty: &Type) -> Option<TokenStream> {
        match ty {
            Type::Reference(reference) => self.name_key(&reference.elem),
            Type::Paren(paren) => self.name_key(&paren.elem),
            Type::Group(group) => self.name_key(&group.elem),
            _ => self.name(ty),
        }
    }

    fn rewrite(&self, ty: &mut Type, uses: &mut Vec<Use>) -> Option<()> {
        match ty {
            Type::Path(path) => self.rewrite_path(path, uses),
            Type::Reference(reference) => {
                reference.lifetime = Some(Lifetime::new("'static", self.span));
                self.rewrite(&mut reference.elem, uses)
            }
            Type::Array(array) if matches!(array.len, Expr::Lit(_)) => {
                self.rewrite(&mut array.elem, uses)
            }
            Type::Slice(slice) => self.rewrite(&mut slice.elem, uses),
            Type::Group(group) => self.rewrite(&mut group.elem, uses),
            Type::Paren(paren) => self.rewrite(&mut paren.elem, uses),
            Type::Tuple(tuple) => tuple
                .elems
                .iter_mut()
                .try_for_each(|elem| self.rewrite(elem, uses)),
            _ => None,
        }
    }

    fn rewrite_path(&self, path: &mut TypePath, uses: &mut Vec<Use>) -> Option<()> {
        let path = path.qself.is_none().then_some(&mut path.path)?;
        let (mut lifetimes, mut types) = (0, 0);
        for segment in &mut path.segments {
            // Only the last may have arguments; what comes after some would be an associated type.
            if (lifetimes, types) != (0, 0) {
                return None;
            }
            (lifetimes, types) = self.rewrite_arguments(segment, uses)?;
        }

        let first = &path.segments.first()?.ident;
        let single = path.segments.len() == 1;
        match first.to_string().as_str() {
            _ if path.leading_colon.is_some() => {}
            name if ROOTS.contains(&name) => {}
            "Self" => return None,
            name if single && PRIMITIVES.contains(&name) => {}
            // Found in the prelude, unless the user's own is found first.
            name if single && PRELUDE.contains(&(name, types)) => {}
            _ if self.generics.contains(first) => return None,
            _ => {
                let path = path
                    .segments
                    .iter()
                    .map(|segment| segment.ident.clone())
                    .collect();
                uses.push(Use {
                    path,
                    lifetimes,
                    types,
                });
            }
        }
        Some(())
    }

    /// The numbers of lifetimes and types among the arguments.
    fn rewrite_arguments(
        &self,
        segment: &mut PathSegment,
        uses: &mut Vec<Use>,
    ) -> Option<(usize, usize)> {
        let bounded = !CONTAINERS.iter().any(|name| segment.ident == name);
        let (mut lifetimes, mut types) = (0, 0);
        match &mut segment.arguments {
            PathArguments::None => {}
            PathArguments::Parenthesized(_) => return None,
            PathArguments::AngleBracketed(arguments) => {
                for argument in &mut arguments.args {
                    match argument {
                        GenericArgument::Lifetime(lifetime) => {
                            *lifetime = Lifetime::new("'static", self.span);
                            lifetimes += 1;
                        }
                        GenericArgument::Type(ty) => {
                            if bounded && find(ty, &may_be_hidden).is_some() {
                                return None;
                            }
                            self.rewrite(ty, uses)?;
                            types += 1;
                        }
                        _ => return None,
                    }
                }
            }
        }
        Some((lifetimes, types))
    }

    /// The function `__cache_hidden`, which gives `types`.
    // Output:
    //     fn __cache_hidden() -> Types {
    //         pub struct Row<A0: ?Sized = ()>(PhantomData<A0>);
    //         {
    //             use self::*;
    //             Types::of_entry(…)
    //         }
    //     }
    pub(crate) fn function(&self, private: &TokenStream, types: &TokenStream) -> TokenStream {
        // Without stand-ins every name means what it says, and nothing has to go before them.
        let body = if self.fallbacks.is_empty() {
            types.clone()
        } else {
            let fallbacks = self
                .fallbacks
                .values()
                .map(|fallback| fallback.declare(self.span));
            quote_spanned! {self.span=>
                #(#fallbacks)*
                {
                    use self::*;
                    #types
                }
            }
        };
        quote_spanned!(self.span=> fn __cache_hidden() -> #private::Types { #body })
    }
}

#[cfg(test)]
mod tests;
