//! /proc/cpuinfo, as text.

/// Model names, each once in their order, joined by ` + `: a hybrid CPU has several. gVisor writes
/// `unknown`, which is no name.
pub(super) fn model(text: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for block in text.split("\n\n") {
        let name = field(block, "model name").or_else(|| arm_name(block));
        names.extend(name.filter(|name| name != "unknown" && !names.contains(name)));
    }
    (!names.is_empty()).then(|| names.join(" + "))
}

/// Microcode revision, if all CPUs have the same; else all of them.
pub(super) fn microcode(text: &str) -> Option<String> {
    let mut revisions: Vec<String> =
        text.split("\n\n").filter_map(|block| field(block, "microcode")).collect();
    revisions.dedup();
    (!revisions.is_empty()).then(|| revisions.join(","))
}

fn field(block: &str, name: &str) -> Option<String> {
    block.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        (key.trim() == name && !value.is_empty()).then(|| value.to_owned())
    })
}

/// Arm kernels print the numbers of MIDR_EL1 instead of a name.
fn arm_name(block: &str) -> Option<String> {
    let implementer = field(block, "CPU implementer")?;
    let part = field(block, "CPU part")?;
    let mut name = format!("Arm implementer {implementer} part {part}");
    for (key, word) in [("CPU variant", "variant"), ("CPU revision", "revision")] {
        if let Some(value) = field(block, key) {
            name = format!("{name} {word} {value}");
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use proptest::prelude::*;

    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";

    #[test]
    fn reads_model_and_microcode() {
        let vm = fixture::file(fixture::VM, "proc/cpuinfo");
        assert_eq!(model(vm).as_deref(), Some("AMD EPYC"));
        assert_eq!(microcode(vm).as_deref(), Some("0x1000065"));
    }

    #[test]
    fn arm_has_numbers_instead_of_a_name_and_no_microcode() {
        let name = "Arm implementer 0x41 part 0xd0c variant 0x3 revision 1";
        assert_eq!(model(ARM).as_deref(), Some(name));
        assert_eq!(microcode(ARM), None);
    }

    #[test]
    fn a_hybrid_cpu_has_both_names() {
        let text = "model name : P\n\nmodel name : E\n\nmodel name : P\n";
        assert_eq!(model(text).as_deref(), Some("P + E"));
    }

    #[test]
    fn nothing_is_unknown() {
        assert_eq!(model("model name\t: \n"), None);
        assert_eq!(microcode(""), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(model name|CPU part|microcode)?[ :a-zA-Z0-9\n\t]{0,100}") {
            let _ = (model(&text), microcode(&text));
        }
    }
}
