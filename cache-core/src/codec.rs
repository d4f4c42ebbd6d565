#![allow(missing_docs, dead_code)]
#[derive(Clone, Debug, Default)]
pub struct CodecHandle;
impl CodecHandle {
    pub fn name(&self) -> &'static str {
        "bincode"
    }
}
#[derive(Clone, Debug, thiserror::Error)]
#[error("codec")]
pub struct CodecError;
pub struct ValueForm<V>(std::marker::PhantomData<fn() -> V>);
impl<V> Clone for ValueForm<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for ValueForm<V> {}
impl<V> ValueForm<V> {
    pub const fn of() -> Self
    where
        V: serde::Serialize + serde::de::DeserializeOwned + 'static,
    {
        Self(std::marker::PhantomData)
    }
    pub fn is_none(_: &V) -> bool {
        false
    }
    pub fn encode(&self, _: &CodecHandle, _: &V) -> Result<Vec<u8>, CodecError> {
        Err(CodecError)
    }
    pub fn decode(&self, _: &CodecHandle, _: &[u8]) -> Result<V, CodecError> {
        Err(CodecError)
    }
    pub fn fingerprint(&self) -> u64 {
        0
    }
}
