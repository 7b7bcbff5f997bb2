//! What an x86 CPU says about itself, the same under every OS. Other CPUs have no such instruction
//! for programs: everything is `None` there.

/// What CPUID says about a hypervisor.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86 CPUs say it"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hypervisor {
    /// The CPU does not claim to have one.
    Absent,
    /// It has one with this signature, which may be empty.
    Present(String),
}

impl Hypervisor {
    /// The name that tare uses for it: that of `systemd-detect-virt` where there is one.
    pub(crate) fn name(&self) -> String {
        // Signatures: https://docs.kernel.org/virt/ and the manuals of each; blanks as they are.
        const NAMES: [(&str, &str); 13] = [
            ("KVMKVMKVM", "kvm"),
            ("Linux KVM Hv", "kvm"),
            ("TCGTCGTCGTCG", "qemu"),
            ("Microsoft Hv", "hyperv"),
            ("VMwareVMware", "vmware"),
            ("XenVMMXenVMM", "xen"),
            ("VBoxVBoxVBox", "virtualbox"),
            ("bhyve bhyve ", "bhyve"),
            ("BHyVE BHyVE ", "bhyve"),
            (" lrpepyh  vr", "parallels"),
            ("prl hyperv  ", "parallels"),
            ("ACRNACRNACRN", "acrn"),
            ("QNXQVMBSQG", "qnx"),
        ];
        match self {
            Self::Absent => "none".into(),
            Self::Present(signature) if signature.trim().is_empty() => "unnamed".into(),
            Self::Present(signature) => NAMES
                .iter()
                .find(|(known, _)| known.trim() == signature.trim())
                .map_or_else(|| signature.trim().to_owned(), |(_, name)| (*name).to_owned()),
        }
    }
}

/// Is there a hypervisor below? (CPUID leaf 1, ECX bit 31, and the signature in leaf 0x4000_0000:
/// Intel SDM vol. 2 CPUID; AMD APM vol. 3, E.3 and E.4.)
#[cfg(target_arch = "x86_64")]
pub(crate) fn hypervisor() -> Option<Hypervisor> {
    const SIGNATURE: u32 = 0x4000_0000;
    if leaf(1)[2] >> 31 & 1 == 0 {
        return Some(Hypervisor::Absent);
    }
    let [_, ebx, ecx, edx] = leaf(SIGNATURE);
    Some(Hypervisor::Present(text(&[ebx, ecx, edx])))
}

/// EAX, EBX, ECX and EDX of one leaf.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, reason = "safe to call since Rust 1.93, unsafe in the oldest supported")]
fn leaf(number: u32) -> [u32; 4] {
    // SAFETY: every x86_64 CPU has CPUID.
    let registers = unsafe { core::arch::x86_64::__cpuid(number) };
    [registers.eax, registers.ebx, registers.ecx, registers.edx]
}

#[cfg(target_arch = "x86_64")]
fn text(registers: &[u32]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// This CPU has no CPUID.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn hypervisor() -> Option<Hypervisor> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_it_knows_and_keeps_what_it_does_not() {
        let name = |signature: &str| Hypervisor::Present(signature.into()).name();
        assert_eq!(name("KVMKVMKVM"), "kvm");
        assert_eq!(name(" lrpepyh  vr"), "parallels");
        assert_eq!(name("NewNewNewNew"), "NewNewNewNew");
        assert_eq!(name(""), "unnamed");
        assert_eq!(Hypervisor::Absent.name(), "none");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn this_cpu_answers() {
        assert!(hypervisor().is_some());
    }
}
