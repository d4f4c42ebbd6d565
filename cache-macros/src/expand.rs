//! The code that the attributes of one function become: layers around the body, each a step before it and one after it, which
//! are calls of `cache_core::__private`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::{Pat, Path, ReturnType, Type, spanned::Spanned};

use self::span::respan;
pub(crate) use self::span::{hygienic, located};
use crate::{
    args::{Args, Kind},
    check::patterns_in_key,
    function::{AsyncBlock, Body, Form, Function, Param},
    names::names_before_dots,
};

mod call;
mod key;
mod returns;
mod site;
mod span;
mod value;

/// What the layers of one function share.
struct Expansion<'a> {
    function: &'a Function,
    params: &'a [Param],
    /// From the outermost to the innermost.
    layers: &'a [Args],
    /// The path of `cache_core::__private`.
    private: TokenStream,
    krate: Option<&'a Path>,
    /// Hygienic, shown at the return type.
    span: Span,
    /// Whether the arguments are looked at when the function is called, and all else is done in its future.
    apart: bool,
}

// Input:
//     #[cache_result(cache = "product", ttl = "30s")]
//     async fn product(&self, #[cache_key] id: u64, trace: &Trace) -> Ret { body }
//
// Output:
//     async fn product(&self, id: u64, trace: &Trace) -> Ret {
//         let __site_0 = { fn __cache_hidden() -> Types { … } site!(Result, "product", "product", false, __cache_hidden) };
//         let __returns = returns!(Ret, serde, share);
//         'layer_0: {
//             let __soon = match {
//                 let mut __plan_0 = Plan::keyed(__site_0, 1);
//                 Plan::part(&mut __plan_0, &id);
//                 Plan::ttl(&mut __plan_0, Duration::new(30, 0));
//                 arrive(&mut __plan_0, __returns)
//             } {
//                 Ok(__returned) => break 'layer_0 __returned,
//                 Err(__soon) => __soon,
//             };
//             let __step = match Arrived::conclude(__soon.await, __returns) {
//                 Ok(__returned) => break 'layer_0 __returned,
//                 Err(__leader) => __leader,
//             };
//             let __returned = async move {
//                 if false { return never(__returns); }
//                 { const _: () = (); body }
//             }.await;
//             Leader::finish(__step, __returns, __returned)
//         }
//     }
pub(crate) fn expand(
    mut function: Function,
    params: &[Param],
    form: &Form,
    mut layers: Vec<Args>,
) -> TokenStream {
    // The order on one function is fixed, whatever order the attributes are written in.
    layers.sort_by_key(|layer| match layer.kind {
        Kind::InvalidateAll => 0,
        Kind::Invalidate => 1,
        Kind::Result | Kind::Put => 2,
    });
    let patterns = patterns_in_key(params, &layers);
    let mut unpack = TokenStream::new();
    for param in &patterns {
        let name = format_ident!("__arg_{}", param.index, span = hygienic(param.pat.span()));
        let pat = &param.pat;
        let span = hygienic(pat.span());
        match pat {
            Pat::Wild(_) => {}
            // By way of a call, since a plain `let _unused = …` is one that lints call useless.
            Pat::Ident(_) => {
                unpack.extend(quote_spanned!(span=> let #pat = ::core::convert::identity(#name);))
            }
            _ => unpack.extend(quote_spanned!(span=> let #pat = #name;)),
        }
        function.rename_input(param.index, &name);
    }

    let mut changing = TokenStream::new();
    if let Form::Async { .. } = form {
        for pat in function.take_mut() {
            let (span, name) = (hygienic(pat.span()), &pat.ident);
            changing.extend(quote_spanned!(span=> let #pat = #name;));
        }
    }

    let krate = layers.iter().find_map(|layer| layer.krate.as_ref());
    let span = match &function.sig.output {
        ReturnType::Type(_, ty) => hygienic(ty.span()),
        ReturnType::Default => hygienic(function.sig.ident.span()),
    };
    let private = match krate {
        Some(path) => quote_spanned!(span=> #path::__private),
        None => quote_spanned!(span=> ::cache_core::__private),
    };
    let expansion = Expansion {
        function: &function,
        params,
        layers: &layers,
        private,
        krate,
        span,
        apart: matches!(form, Form::Boxed { before, .. } if !before.is_empty()),
    };
    let block = match form {
        Form::Async { body } => {
            let (plans, run) = expansion.statements(body, &changing, &unpack);
            quote_spanned!(span=> #plans #run)
        }
        Form::Boxed { before, pin, body } => {
            let (plans, run) = expansion.statements(body, &changing, &unpack);
            if !expansion.apart {
                let block = body.around(&quote_spanned!(span=> #plans #run));
                quote_spanned!(span=> #pin(#block))
            } else {
                // They run when the function is called, may take the arguments with them and may be there so that the
                // future borrows nothing: the key has to be made before.
                let block = body.around(&run);
                quote_spanned!(span=> #plans { #before #pin(#block) })
            }
        }
    };
    let mut function = function;
    if let Body::Block { statements, .. } = &mut function.body {
        *statements = block;
    }
    function.into_token_stream()
}

/// Applies the attributes that were taken off the function once more, to nothing, so that their imports are used.
pub(crate) fn keep_used(layers: &[Args]) -> TokenStream {
    let paths = layers.iter().filter_map(|layer| layer.path.as_ref());
    quote_spanned!(Span::mixed_site()=> #(#[#paths(__collected)] const _: () = ();)*)
}

/// Whether `args` are those that [`keep_used`] writes.
pub(crate) fn is_kept(args: &TokenStream) -> bool {
    args.to_string() == "__collected"
}

impl Expansion<'_> {
    /// What is done with the arguments, and what is done then.
    fn statements(
        &self,
        body: &AsyncBlock,
        changing: &TokenStream,
        unpack: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let Self { private, span, .. } = self;
        let used = keep_used(self.layers);
        let sites = self
            .layers
            .iter()
            .enumerate()
            .map(|(i, layer)| self.site(i, layer));
        let checks = self.caches_apart();
        let returns = self.returns();
        let plans = self
            .layers
            .iter()
            .enumerate()
            .map(|(i, layer)| (layer.has_implicit_key(), self.plan(i, layer)));
        let (from_params, from_names): (Vec<_>, Vec<_>) =
            plans.partition(|(implicit, _)| *implicit);
        let from_params = from_params.into_iter().map(|(_, plan)| plan);
        let from_names = from_names.into_iter().map(|(_, plan)| plan);
        let (from_params, from_names) = (
            quote_spanned!(*span=> #(#from_params)*),
            quote_spanned!(*span=> #(#from_names)*),
        );
        let (before, plan, after) = if !self.plans_in_place() {
            let all = quote_spanned!(*span=> #from_params #unpack #from_names);
            (all, TokenStream::new(), TokenStream::new())
        } else if from_params.is_empty() {
            (unpack.clone(), from_names, TokenStream::new())
        } else {
            (TokenStream::new(), from_params, unpack.clone())
        };
        let plans = quote_spanned! {*span=>
            #used
            #checks
            #(#sites)*
            #returns
            #before
        };
        // Never taken: it states the type, so that a body of another type is blamed for it.
        let stated = (!matches!(self.function.output(), Some(Type::Never(_))))
            .then(|| quote_spanned!(*span=> if false { return #private::never(__returns); }));
        let statements = &body.statements;
        let whole = self.whole(statements);
        // Braces of the user's own, twice: what lints say of a body they say of the inner block, which is no expression alone, whose
        // braces they would call superfluous, nor begins with statements, after which they would have no items.
        let within = body.braced(&quote_spanned!(*span=> const _: () = (); #changing #statements));
        let block = body.around(&quote_spanned!(*span=> #whole #stated #within));
        let body = quote_spanned!(*span=> #block.await);
        let body = if after.is_empty() {
            body
        } else {
            quote_spanned!(*span=> { #after #body })
        };
        let layers = self.layers.iter().enumerate().rev();
        let run = layers.fold(body, |within, (i, layer)| {
            self.around(i, layer, &plan, &within)
        });
        (plans, run)
    }

    /// Whether a plan is made where it is used, because nothing is waited for before: then it need not be moved.
    fn plans_in_place(&self) -> bool {
        !self.apart && matches!(self.layers, [layer] if layer.kind == Kind::Result)
    }

    /// Has a `self` whose fields the body changes be captured as a whole, as an `async fn` does: of a field by itself, lints
    /// would say that nobody reads it.
    fn whole(&self, statements: &TokenStream) -> Option<TokenStream> {
        let receiver = self.function.sig.receiver()?;
        let this = &receiver.self_token;
        let changed = receiver.mutability.is_some()
            && names_before_dots(statements.clone())
                .iter()
                .any(|name| name == "self");
        changed.then(|| quote_spanned!(self.span=> let _ = &#this;))
    }

    fn local(&self, name: &str, i: usize) -> Ident {
        format_ident!("__{name}_{i}", span = self.span)
    }
}
