/** `v1` for the core group, else `<group>/<version>`. */
export function printApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** The group and version of an `apiVersion`; undefined if it is malformed. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2 || parts.some((part) => part === '')) return undefined
  return parts.length === 1 ? { group: '', version: apiVersion } : { group: parts[0] ?? '', version: parts[1] ?? '' }
}
