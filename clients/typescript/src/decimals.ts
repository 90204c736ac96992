/** JSON whose numbers keep all of their digits. */

import { isSafeNumber, LosslessNumber, parse, stringify } from "lossless-json";

/**
 * An exact decimal. It is a `LosslessNumber` where a JavaScript number would lose digits;
 * `toString()` has all of them.
 */
export type Decimal = number | LosslessNumber;

export function parseJson(text: string): unknown {
  return parse(text, null, (digits) =>
    isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits),
  );
}

export function writeJson(value: unknown): string {
  return stringify(value) ?? "";
}
