use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{Bincode, Codec, CodecError, CodecReader, Json, MessagePack, Postcard, codec::Form};

const EPOCH: Token = Token::from_bytes(*b"epoch 01");

fn label() -> Label {
    Labels::new(&Json.into(), 0x1122_3344_5566_7788, 3, "product").of("42")
}

fn sealed() -> Bytes {
    seal_as(
        0x0102_0304_0506_0708,
        b"{\"id\":42}".to_vec(),
        &label(),
        EPOCH,
        Some(1_900_000_000_123),
    )
}

fn refused(entry: &[u8], label: &Label) -> Unreadable {
    open(entry, label).expect_err("does not count")
}

#[test]
fn the_form_is_pinned() {
    let hex: String = sealed().iter().map(|byte| format!("{byte:02x}")).collect();
    let trailer = [
        "0807060504030201", // the store
        "65706f6368203031", // the epoch
        "e758954abd979de8", // the type
        "3fbb7675c024a7fb", // the key
        "7b38d360ba010000", // expires at
        "0201cac5",         // codec, version, mark
        "ca28a6aa",         // the checksum
    ];
    assert_eq!(hex, format!("7b226964223a34327d{}", trailer.concat()));
}

#[test]
fn an_entry_gives_back_what_was_sealed() {
    let entry = sealed();
    let opened = open(&entry, &label()).expect("counts");
    assert_eq!(opened.payload, b"{\"id\":42}");
    assert_eq!((opened.epoch, opened.store), (EPOCH, 0x0102_0304_0506_0708));
    assert_eq!(opened.expires_at, Some(1_900_000_000_123));
    assert_eq!(entry.len(), opened.payload.len() + TRAILER_LEN);

    let entry = seal(Vec::new(), &label(), EPOCH, None);
    let opened = open(&entry, &label()).expect("counts");
    assert_eq!((opened.payload.len(), opened.expires_at), (0, None));
    let (payload, trailer) = split(&entry).expect("has a trailer");
    assert_eq!((payload.len(), trailer.len()), (0, TRAILER_LEN));
}

#[test]
fn every_store_has_a_number_of_its_own() {
    let store = || {
        open(&seal(Vec::new(), &label(), EPOCH, None), &label())
            .expect("counts")
            .store
    };
    assert_ne!(store(), store());
}

#[test]
fn an_instant_that_has_passed_is_not_never() {
    let entry = seal(Vec::new(), &label(), EPOCH, Some(0));
    assert_eq!(open(&entry, &label()).expect("counts").expires_at, Some(1));
}

#[test]
fn every_flipped_bit_is_refused() {
    let entry = sealed();
    for bit in 0..entry.len() * 8 {
        let mut damaged = entry.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        open(&damaged, &label()).expect_err("is damaged");
    }
}

#[test]
fn every_part_of_an_entry_is_refused() {
    let entry = sealed();
    for cut in 0..entry.len() {
        open(&entry[..cut], &label()).expect_err("is cut off");
        if cut > 0 {
            open(&entry[cut..], &label()).expect_err("lacks its beginning");
        }
    }
    for wrong in [b"", &b"{broken"[..], &[0; TRAILER_LEN], &[0xff; 200]] {
        assert_eq!(refused(wrong, &label()), Unreadable::Foreign);
    }
}

#[test]
fn an_entry_of_another_kind_is_refused_as_that() {
    let entry = sealed();
    let of = |codec: CodecHandle, fingerprint, version, cache, key| {
        Labels::new(&codec, fingerprint, version, cache).of(key)
    };
    let (fingerprint, json) = (0x1122_3344_5566_7788, CodecHandle::from(Json));
    assert_eq!(of(json.clone(), fingerprint, 3, "product", "42"), label());
    for codec in [Bincode.into(), Postcard.into(), MessagePack.into()] {
        assert_eq!(
            refused(&entry, &of(codec, fingerprint, 3, "product", "42")),
            Unreadable::Codec
        );
    }
    assert_eq!(
        refused(&entry, &of(json.clone(), 1, 3, "product", "42")),
        Unreadable::Type
    );
    assert_eq!(
        refused(&entry, &of(json.clone(), fingerprint, 4, "product", "42")),
        Unreadable::Type
    );
    assert_eq!(
        refused(&entry, &of(json.clone(), fingerprint, 3, "products", "42")),
        Unreadable::Key
    );
    assert_eq!(
        refused(&entry, &of(json, fingerprint, 3, "product", "43")),
        Unreadable::Key
    );
}

#[test]
fn case_b14_names_and_keys_that_join_to_one_text_are_kept_apart() {
    let of = |cache, key| Labels::new(&Json.into(), 1, 1, cache).of(key);
    assert_ne!(of("a", "b:c"), of("a:b", "c"));
}

#[test]
fn the_classes_of_damage_are_told_apart() {
    let mut other_version = sealed().to_vec();
    let at = other_version.len() - TRAILER_LEN + 41;
    other_version[at] = VERSION + 1;
    assert_eq!(refused(&other_version, &label()), Unreadable::Version);
    let mut damaged = sealed().to_vec();
    damaged[0] ^= 1;
    assert_eq!(refused(&damaged, &label()), Unreadable::Checksum);
}

#[test]
fn codecs_from_outside_are_told_apart_by_name() {
    struct Named(&'static str);
    impl Codec for Named {
        fn name(&self) -> &'static str {
            self.0
        }
        fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
            Json.encode(value)
        }
        fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError> {
            Json.decode(bytes, reader)
        }
    }
    let of = |name| Labels::new(&Named(name).into(), 1, 1, "c").of("k");
    assert_ne!(of("one"), of("two"));
    assert_ne!(of("json"), Labels::new(&Json.into(), 1, 1, "c").of("k"));
    assert_eq!(of("one"), of("one"));
}

#[test]
fn debug_shows_no_value() {
    let entry = seal(b"hunter2".to_vec(), &label(), EPOCH, None);
    let shown = format!("{:?}", open(&entry, &label()).expect("counts"));
    assert!(
        !shown.contains("hunter2") && !shown.contains("104"),
        "{shown}"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_count(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(open(&bytes, &label()).is_err());
    }

    #[test]
    fn arbitrary_bytes_with_a_right_trailer_do_no_harm(bytes in vec(any::<u8>(), 0..300)) {
        let entry = seal(bytes, &label(), EPOCH, None);
        let opened = open(&entry, &label()).expect("counts");
        let form = Form::of::<Vec<(String, Option<u64>)>>();
        for codec in [Bincode.into(), Json.into(), Postcard.into(), CodecHandle::from(MessagePack)] {
            let _ = form.decode(&codec, opened.payload);
        }
    }
}
