/** `v1` for the core group, else `<group>/<version>`. */
export function printApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** An `apiVersion` whose empty group may be spelled out, as in `/v1`. Other values are returned unchanged. */
export function withoutEmptyGroup<T>(apiVersion: T): T | string {
  return typeof apiVersion === 'string' && apiVersion.lastIndexOf('/') === 0 ? apiVersion.slice(1) : apiVersion
}

/** The group and version of an `apiVersion`; undefined if it is malformed. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2 || parts.at(-1) === '') return undefined
  return parts.length === 1 ? { group: '', version: apiVersion } : { group: parts[0] ?? '', version: parts[1] ?? '' }
}
