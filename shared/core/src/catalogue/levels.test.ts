import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Resource } from '../kind/resource.ts'
import { createCatalogue, parseRuntimeConfigOf } from './catalogue.ts'

const levels = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]

/** `apps/v1/deployments` → its facts in discovery, in the notation of the file. */
type Kinds = Record<string, string>

const upstream = readFileSync(new URL('upstream-kinds.txt', import.meta.url), 'utf8').split('\n')

/** Alpha and beta versions whose kinds this server does not have, or has in another form: [API levels](docs/reference/versions.md) has the reasons. */
const absent = [
  /^coordination\.k8s\.io\/v1alpha1\//,
  /^(?:lifecycle|scheduling)\.k8s\.io\/v1(?:alpha|beta)/,
  /^resource\.k8s\.io\/v1alpha[12]\//,
  /^resource\.k8s\.io\/v1alpha3\/(?:podschedulingcontexts|resourcepoolstatusrequests)$/,
  /^storagemigration\.k8s\.io\/v1alpha1\//,
]

describe('kinds by level', () => {
  test.each(levels)('EMV-13: discovery at 1.%d has the facts of each kind of that Kubernetes release', (level) => {
    expectKinds(servedKindsAt(level), upstreamKindsAt(level))
  })

  test.each(levels)('RTC-01: with api/all, 1.%d serves the versions that are off by default, but for those of absent kinds', (level) => {
    const wanted = upstreamKindsAt(level, 'off')
    for (const path of Object.keys(wanted)) if (absent.some((one) => one.test(path))) delete wanted[path]
    if (level < 35) delete wanted['resource.k8s.io/v1alpha3/devicetaintrules']
    const [all, byDefault] = [servedKindsAt(level, 'api/all=true'), servedKindsAt(level)]
    expectKinds(Object.fromEntries(Object.entries(all).filter(([path]) => !(path in byDefault))), wanted)
  })

  test('EMV-13: singulars of built-in kinds are shown from 1.27 on', () => {
    const singulars = (minor: number) => createCatalogue('kubernetes', { minor }).resources.map(({ shownSingular }) => shownSingular)
    expect(new Set(singulars(26))).toEqual(new Set(['']))
    expect(singulars(27)).not.toContain('')
    expect(createCatalogue('kubernetes', { minor: 27 }).find('apps', 'v1', 'deployments')?.shownSingular).toBe('deployment')
  })

  test('DEP-06: a version that is new at a level is preferred from the next one on', () => {
    const versionsAt = (minor: number) => createCatalogue('kubernetes', { minor }).group('flowcontrol.apiserver.k8s.io')?.versions
    expect([26, 27, 29, 30, 32].map(versionsAt)).toEqual([
      ['v1beta2', 'v1beta3'],
      ['v1beta3', 'v1beta2'],
      ['v1beta3', 'v1'],
      ['v1', 'v1beta3'],
      ['v1'],
    ])
  })
})

function expectKinds(served: Kinds, wanted: Kinds): void {
  expect(Object.keys(served).sort()).toEqual(Object.keys(wanted).sort())
  const other = Object.entries(wanted).filter(([path, facts]) => !facts.endsWith('?') && served[path] !== facts)
  expect(other.map(([path, facts]) => `${path}: ${served[path]}, not ${facts}`)).toEqual([])
}

function upstreamKindsAt(level: number, which?: 'off'): Kinds {
  const kinds: Kinds = {}
  let path: string | undefined
  for (const line of upstream) {
    const [first = '', ...words] = line.trim().split(' ')
    if (line.startsWith('#') || first === '') continue
    if (line.startsWith(' ')) {
      if (path !== undefined && Number(first) <= level) kinds[path] = words.join(' ')
      continue
    }
    const [since = '', until = ''] = (words[0] ?? '').split('-')
    const isThere = words[1] === which && (since === '' || Number(since) <= level) && (until === '' || level <= Number(until))
    path = isThere ? first : undefined
  }
  return kinds
}

/** Alpha versions of 1.25, which the file does not have. */
const alphasOf25 = /^(?:networking.k8s.io\/v1alpha1\/clustercidrs|internal\.apiserver\.k8s\.io\/v1alpha1\/storageversions)$/

function servedKindsAt(minor: number, config?: string): Kinds {
  const reading = parseRuntimeConfigOf('kubernetes', config ?? '', minor)
  if (reading.kind === 'malformed') throw new Error(reading.message)
  const { resources } = createCatalogue('kubernetes', { minor, runtimeConfig: reading.config })
  const stable = resources.filter(({ group, version, plural }) => !alphasOf25.test(`${group}/${version}/${plural}`))
  return Object.fromEntries(stable.map((resource) => [`${resource.group}/${resource.version}/${resource.plural}`, printKind(resource)]))
}

/** A kind as a line of the file. */
function printKind({ kind, isNamespaced, verbs, shortNames, categories, subresources, hashedType }: Resource): string {
  const list = (words: readonly string[]) => words.toSorted().join(',') || '-'
  const names = subresources.flatMap(({ name }) => (name === '' ? [] : [name]))
  return [
    ...[kind, isNamespaced ? 'N' : 'C', list(verbs), list(shortNames), list(categories), list(names)],
    hashedType === undefined ? '-' : createHash('sha256').update(hashedType).digest().subarray(0, 8).toString('base64'),
  ].join(' ')
}
