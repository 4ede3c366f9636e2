/** Numbers as text, the way Python and people write them. */

/** Write with one decimal as Python's `format(x, ".1f")` does: ties go to the even digit. */
export function oneDecimal(value: number): string {
  const tenths = value * 10;
  const low = Math.floor(tenths);
  // A double is exactly between two tenths only if 20 times it is an odd whole number.
  const tie = Number.isInteger(value * 4) && tenths - low === 0.5;
  if (!tie) return value.toFixed(1);
  return ((low % 2 === 0 ? low : low + 1) / 10).toFixed(1);
}
