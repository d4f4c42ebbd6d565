//! The grammar of the options, `name = value` pairs between the parentheses of an attribute, and what to write instead of what is
//! none.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Expr, LitStr, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    token::Paren,
};

use super::{
    Args, OPTIONS, foreign,
    values::{cache, krate, time, when},
};
use crate::{fallback::Errors, literal::nearest};

/// Whether the word stands where the cache is to be named, by its name or another.
fn meant_the_cache(word: &str) -> bool {
    let nearest = nearest(word, OPTIONS.iter().map(|(option, _)| *option));
    nearest == Some("cache") || foreign::names_the_cache(word)
}

fn is_option(word: &str) -> bool {
    OPTIONS.iter().any(|(option, _)| *option == word)
}

impl Args {
    pub(super) fn parse(mut self, tokens: TokenStream, errors: &mut Errors) -> Self {
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                match self.option(input) {
                    Ok((name, value)) => self.set(name, value, errors),
                    Err(error) => {
                        errors.push(error);
                        // The next comma is the next place where an option can begin.
                        while !input.is_empty() && !input.peek(Token![,]) {
                            input.parse::<TokenTree>()?;
                        }
                    }
                }
                if input.peek(Token![->]) || input.peek(Token![=>]) {
                    errors.at_span(input.span(), "a function is written `|value| …`");
                    input.parse::<TokenStream>()?;
                } else if !input.is_empty()
                    && let Err(error) = input.parse::<Token![,]>()
                {
                    errors.push(error);
                    input.parse::<TokenStream>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(tokens) {
            errors.push(error);
        }
        self
    }

    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<(Ident, Expr)> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            let message = match self.cache_written {
                true => "this is no option: remove it".to_owned(),
                false => format!("write `cache = {}`", text.token()),
            };
            self.cache_written = true;
            return Err(syn::Error::new_spanned(&text, message));
        }
        let name = Ident::parse_any(input).map_err(|error| {
            syn::Error::new(
                error.span(),
                "write the name of an option, as in `cache = \"…\"`",
            )
        })?;
        let text = name.to_string();
        let alone = !input.peek(Token![=]);
        let is_known = is_option(&text) || foreign::advice(&text, self.kind).is_some();
        let names_cache = alone && !is_known && !self.cache_written && self.given.is_empty();
        self.cache_written |= names_cache || meant_the_cache(&text);
        let wrong = |message: String| Err(syn::Error::new_spanned(&name, message));
        if names_cache {
            // By convention a constant.
            let quote = match text.chars().any(char::is_lowercase) {
                true => "\"",
                false => "",
            };
            return wrong(format!("write `cache = {quote}{name}{quote}`"));
        }
        if alone {
            return wrong(self.without_value(&text, input.peek(Paren)));
        }
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return wrong(format!("`{name}` has no value: write `{name} = …`"));
        }
        match input.parse() {
            Ok(value) => Ok((name, value)),
            // The end of an attribute is no place to blame.
            Err(_) if input.is_empty() => wrong(format!(
                "the value of `{name}` is not finished: write `{name} = …`"
            )),
            Err(error) => Err(error),
        }
    }

    /// What to write instead of a word alone, or with parentheses.
    fn without_value(&self, word: &str, called: bool) -> String {
        let after_key = self.given.last().is_some_and(|last| last == "key");
        if word == "key" && called {
            foreign::KEY.to_owned()
        } else if is_option(word) {
            format!("write `{word} = …`")
        } else if after_key && foreign::advice(word, self.kind).is_none() {
            format!("write `key = (…, {word})`, a tuple for several parts")
        } else {
            self.unknown(word)
        }
    }

    fn set(&mut self, name: Ident, value: Expr, errors: &mut Errors) {
        let text = name.to_string();
        if !is_option(&text) {
            errors.at(&name, self.unknown(&text));
            return;
        }
        if self.given.contains(&name) {
            errors.at(&name, format!("`{name}` is given twice: keep one"));
            return;
        }
        match text.as_str() {
            "cache" => self.cache = cache(value, errors),
            "key" => self.key = Some(value),
            "key_with" => self.key_with = Some(value),
            "ttl" => self.ttl = time(&name, value, errors),
            "ttl_with" => self.ttl_with = Some(value),
            "condition" => self.condition = Some(value),
            "store_if" => self.store_if = Some(value),
            "invalidate_if" => self.invalidate_if = Some(value),
            "when" => self.when = when(value, errors),
            "lock_timeout" => self.lock_timeout = time(&name, value, errors),
            "manager" => self.manager = Some(value),
            _ => self.krate = krate(value, errors),
        }
        self.given.push(name);
    }

    fn unknown(&self, word: &str) -> String {
        if let Some(advice) = foreign::advice(word, self.kind) {
            return format!("unknown option `{word}`: {advice}");
        }
        let own: Vec<&str> = OPTIONS
            .iter()
            .filter(|(_, kinds)| kinds.contains(&self.kind))
            .map(|(option, _)| *option)
            .collect();
        match nearest(word, own.iter().copied()) {
            Some(option) => format!("unknown option `{word}`: did you mean `{option}`?"),
            None => format!(
                "unknown option `{word}`: `{}` has {}",
                self.kind.name(),
                own.join(", ")
            ),
        }
    }
}
