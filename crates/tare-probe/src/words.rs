//! Numbers as people read them.

/// A time in the unit that suits it, three significant digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns_abs if ns_abs < 1e3 => (ns, "ns"),
        ns_abs if ns_abs < 1e6 => (ns / 1e3, "us"),
        ns_abs if ns_abs < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A size in binary units.
pub fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (63 - bytes.max(1).leading_zeros()).div_euclid(10).min(4);
    let value = bytes as f64 / f64::from(power * 10).exp2();
    let unit = units[power as usize];
    if power == 0 { format!("{bytes} {unit}") } else { format!("{} {unit}", three_digits(value)) }
}

/// A share in per cent; small ones are not rounded away.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 0.01 { format!("{value:.2} %") } else { format!("{value:.1e} %") }
}

/// One of something, or several.
pub fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// Columns aligned: the first to the left, the others to the right, two blanks between.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_suits() {
        for (ns, text) in [
            (9.46, "9.46 ns"),
            (26.0, "26.0 ns"),
            (1234.0, "1.23 us"),
            (48_200_000.0, "48.2 ms"),
            (5e9, "5.00 s"),
            (0.0, "0.00 ns"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn sizes_and_shares() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1 << 20), "1.00 MiB");
        assert_eq!(size(u64::MAX), "16777216 TiB");
        assert_eq!(percent(0.0213), "2.13 %");
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(3e-6), "3.0e-4 %");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["loop".into(), "n".into()], vec!["fwq".into(), "1000".into()]];
        assert_eq!(table(&rows), "loop     n\nfwq   1000\n");
    }
}
