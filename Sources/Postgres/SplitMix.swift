/// SplitMix64: small, seeded, for jitter only.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  mutating func below(_ bound: Int64) -> Int64 {
    bound <= 1 ? 0 : Int64(next() % UInt64(bound))
  }
}
