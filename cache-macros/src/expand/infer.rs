//! The return type as far as it can be named.

use syn::{Type, TypeInfer, spanned::Spanned, visit_mut::VisitMut};

/// Puts `_` where the type cannot be named.
pub(super) struct Infer;

impl VisitMut for Infer {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(_) | Type::Never(_) = ty {
            let underscore_token = syn::Token![_](ty.span());
            *ty = Type::Infer(TypeInfer {
                attrs: Vec::new(),
                underscore_token,
            });
        } else {
            syn::visit_mut::visit_type_mut(self, ty);
        }
    }
}
