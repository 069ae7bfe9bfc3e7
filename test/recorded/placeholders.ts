/** The values of the placeholders in recorded requests during this run. */
const namespace = 'recorded'
const suffix = 'sfx01'
const time = '2020-01-01T00:00:00.000000Z'
const address = '10.0.0.0'
const host = 'https://host.example.com'

/** The parent of the namespace that replaces `NS` in a recorded request. */
export const recordedNamespace = namespace

const suffixPattern = /(?<=[-x.])UU(?=$|[^A-Za-z0-9])/g

/** A recorded text with this run's values. */
export function fillText(text: string): string {
  return text
    .replace(/\bNS\b/g, namespace)
    .replace(suffixPattern, suffix)
    .replace(/\bTS\b/g, time)
    .replace(/\bSVCIP\b/g, address)
    .replace(/\bHOST\b/g, host)
}

/** A recorded body with this run's values. A resourceVersion that means any old version becomes 1. */
export function fill(value: unknown): unknown {
  if (value === 'RV') return '1'
  if (typeof value === 'string') return fillText(value)
  if (Array.isArray(value)) return value.map(fill)
  if (typeof value !== 'object' || value === null) return value
  if ('$repeat' in value) {
    const [text, count] = value.$repeat as [string, number]
    return text.repeat(count)
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [fillText(name), fill(item)]))
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
/** The test's server also trusts an authority that it made. */
const certificates = /(?:-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n)+/g
const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** An answer of either side without the parts that differ between runs. */
export function blank(value: unknown): unknown {
  if (typeof value === 'string') return blankText(value)
  if (Array.isArray(value)) return value.map(blank)
  if (typeof value !== 'object' || value === null) return value
  if ('gitVersion' in value) return withoutStamp(value)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [blankText(name), blankField(name, item)]))
}

function blankField(name: string, value: unknown): unknown {
  if (name === 'subsets') return blank(JSON.parse(JSON.stringify(value).replace(/"ip":"[^"]*"|"port":\d{5}/g, '"own":"ADDRESS"')))
  if (name === 'causes' && Array.isArray(value)) return withoutRepeated(value).map(blank)
  if (name === 'managedFields' && Array.isArray(value)) return inOwnOrder(value.map(blank))
  if (name === 'resourceVersion' && typeof value === 'string' && value !== '') return 'RV'
  if (name === 'cells' && Array.isArray(value)) return value.map(blankAge).map(blank)
  if (name === 'columnDefinitions' && Array.isArray(value)) return value.map(withoutDescription).map(blank)
  return blank(value)
}

/** The recorded server was built without a version stamp and by another compiler. */
function withoutStamp(version: object): object {
  const stamped = new Set(['major', 'minor', 'gitVersion', 'gitCommit', 'buildDate', 'goVersion', 'compiler'])
  return Object.fromEntries(Object.entries(version).map(([name, value]) => [name, stamped.has(name) ? typeof value : (value as unknown)]))
}

/** Entries are ordered by their times, which depend on the run. */
function inOwnOrder(entries: readonly unknown[]): unknown[] {
  return entries
    .map((entry) => JSON.stringify(entry))
    .sort()
    .map((text) => JSON.parse(text) as unknown)
}

/** kube-apiserver lists a cause as often as it meets it. */
function withoutRepeated(causes: readonly unknown[]): unknown[] {
  return [...new Map(causes.map((cause) => [JSON.stringify(cause), cause])).values()]
}

function blankText(text: string): string {
  return text
    .replace(uuid, 'UID')
    .replace(timestamp, 'TS')
    .replace(/\b10\.\d+\.\d+\.\d+\b/g, 'SVCIP')
    .replace(/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-XXXXX')
    .replace(/resourceVersion\\*":\\*"\d+/g, 'resourceVersion":"RV')
    .replace(/in record \(\d+\)/g, 'in record (RV)')
    .replace(/\b(?:SVCIP|127\.0\.0\.1):\d{4,5}\b/g, 'ADDRESS')
    .replace(/\(0xc[0-9a-f]{9}\)/g, '(POINTER)')
    .replace(certificates, 'CERTIFICATES\n')
    .replaceAll(host, 'HOST')
    .replaceAll(namespace, 'NS')
    .replaceAll(suffix, 'UU')
}

function blankAge(cell: unknown): unknown {
  return typeof cell === 'string' && /^(?:\d+[smhdy])+$/.test(cell) ? 'AGE' : cell
}

function withoutDescription(column: object): object {
  return { ...column, description: undefined }
}
