/**
 * Releases of the API whose feature gates and group versions are known, by their minor number. Descriptions begin with `own`, which
 * functions without a level mean; a server has the level `byDefault` unless a flag names another one.
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
