//! Lists of CPUs as Linux writes them and as `--cpus` reads them: `0`, `0,2-3`.

use std::collections::BTreeSet;

/// Largest CPU number that a list may name; bounds the memory that a list can ask for.
pub const MAX_CPU: u32 = 65_535;

/// CPUs of a list, ascending, each once; `None` if it is not a list. An empty text is an empty list.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<u32>> {
    let text = text.trim();
    let mut cpus = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus.into_iter().collect())
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&cpu| digits && cpu <= MAX_CPU)
}

/// The list in its shortest form; `cpus` ascending.
#[must_use]
pub fn format(cpus: &[u32]) -> String {
    let runs = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let parts: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_linux_writes() {
        assert_eq!(parse("0-1\n"), Some(vec![0, 1]));
        assert_eq!(parse("0,2-3,7"), Some(vec![0, 2, 3, 7]));
        assert_eq!(parse("\n"), Some(vec![]));
    }

    #[test]
    fn refuses_what_is_no_list() {
        for text in ["a", "1-", "-1", "3-1", "1,,2", "+1", "0-4294967295", "1 2"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_a_written_list_gives_it_back(cpus in prop::collection::btree_set(0..300_u32, 0..40)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(parse(&format(&cpus)), Some(cpus));
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = parse(&text);
        }
    }
}
