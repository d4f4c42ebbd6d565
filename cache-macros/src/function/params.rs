//! The parameters other than `self`, and which of them make up the key.

use proc_macro2::Ident;
use syn::{
    Attribute, FnArg, Meta, Pat, PatIdent, Path, Type,
    visit_mut::{self, VisitMut},
};

use super::Function;
use crate::fallback::Errors;

/// A parameter other than `self`.
pub(crate) struct Param {
    /// The place among the inputs, `self` included.
    pub(crate) index: usize,
    pub(crate) pat: Pat,
    pub(crate) ty: Type,
    pub(crate) mark: Option<Mark>,
}

/// What `#[cache_key]` on a parameter says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Plain,
    Hash,
}

impl Function {
    /// Takes the marks off the parameters.
    pub(crate) fn take_params(&mut self, errors: &mut Errors) -> Vec<Param> {
        let mut params = Vec::new();
        for (index, input) in self.sig.inputs.iter_mut().enumerate() {
            match input {
                FnArg::Receiver(receiver) => {
                    for attr in take_marks(&mut receiver.attrs) {
                        errors.at(
                            attr,
                            "`self` is never part of the key: mark other parameters, or write `key = …` with what you need of it",
                        );
                    }
                }
                FnArg::Typed(typed) => {
                    let mut mark = None;
                    for attr in take_marks(&mut typed.attrs) {
                        let read = read_mark(&attr, errors);
                        if mark.is_some() {
                            errors.at(&attr, "`#[cache_key]` is given twice: keep one");
                        }
                        mark = mark.or(Some(read));
                    }
                    params.push(Param {
                        index,
                        pat: (*typed.pat).clone(),
                        ty: (*typed.ty).clone(),
                        mark,
                    });
                }
            }
        }
        params
    }
}

fn take_marks(attrs: &mut Vec<Attribute>) -> Vec<Attribute> {
    let (marks, others) = attrs.drain(..).partition(|attr| is_mark(attr.path()));
    *attrs = others;
    marks
}

pub(super) fn is_mark(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| last.ident == "cache_key")
}

fn read_mark(attr: &Attribute, errors: &mut Errors) -> Mark {
    match &attr.meta {
        Meta::Path(_) => return Mark::Plain,
        Meta::List(list) => {
            if syn::parse2::<Ident>(list.tokens.clone()).is_ok_and(|word| word == "hash") {
                return Mark::Hash;
            }
            if list.tokens.is_empty() {
                errors.at(attr, "write `#[cache_key]` or `#[cache_key(hash)]`");
            } else {
                errors.at(&list.tokens, "write `#[cache_key]` or `#[cache_key(hash)]`");
            }
        }
        Meta::NameValue(_) => errors.at(attr, "write `#[cache_key]` or `#[cache_key(hash)]`"),
    }
    Mark::Plain
}

/// The parameters that make up the key when no option says otherwise: the marked ones, else all.
pub(crate) fn key_params(params: &[Param]) -> impl Iterator<Item = &Param> {
    let marked = params.iter().any(|param| param.mark.is_some());
    params
        .iter()
        .filter(move |param| !marked || param.mark.is_some())
}

impl Param {
    /// The name under which the whole argument can be read; a pattern has none, and naming `_unused` would be a lint's
    /// business.
    pub(crate) fn name(&self) -> Option<&Ident> {
        match &self.pat {
            Pat::Ident(pat) if pat.subpat.is_none() && !pat.ident.to_string().starts_with('_') => {
                Some(&pat.ident)
            }
            _ => None,
        }
    }

    /// The variables that it binds, a constant in a pattern aside.
    pub(crate) fn variables(&self) -> Vec<Ident> {
        let mut variables = Variables(Vec::new());
        variables.visit_pat_mut(&mut self.pat.clone());
        variables.0
    }
}

struct Variables(Vec<Ident>);

impl VisitMut for Variables {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if !pat.ident.to_string().starts_with(char::is_uppercase) {
            self.0.push(pat.ident.clone());
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }
}
