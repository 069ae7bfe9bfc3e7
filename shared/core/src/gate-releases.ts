/**
 * Releases of the API with known feature gates and group versions, by minor version. Descriptions begin with `own`, which is
 * the default of functions without a level; servers default to the level `byDefault`, which a flag can change.
 */
export const knownReleases = { oldest: 23, own: 25, byDefault: 37, newest: 37 } as const

/** `1.27` for 27. */
export function printRelease(minor: number): string {
  return `1.${minor}`
}

/** 26 for `1.26`. */
export function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1))
}
