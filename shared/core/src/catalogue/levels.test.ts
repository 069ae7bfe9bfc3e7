import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Resource } from '../kind/resource.ts'
import { createCatalogue } from './catalogue.ts'

const levels = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]

/** `apps/v1/deployments` → its facts in discovery, in the notation of the file. */
type Kinds = Record<string, string>

const upstream = readFileSync(new URL('upstream-kinds.txt', import.meta.url), 'utf8').split('\n')

describe('kinds by level', () => {
  test.each(levels)('EMV-13: discovery at 1.%d has the facts of each kind of that Kubernetes release', (level) => {
    const [wanted, served] = [upstreamKindsAt(level), servedKindsAt(level)]
    expect(Object.keys(wanted).filter((path) => !(path in served))).toEqual([])
    expect(Object.keys(served).filter((path) => !(path in wanted))).toEqual([])
    const other = Object.keys(served).filter((path) => path in wanted && served[path] !== wanted[path])
    expect(other.map((path) => `${path}: ${served[path]}, not ${wanted[path]}`)).toEqual([])
    expect(Object.keys(served).length).toBeGreaterThan(55)
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

function upstreamKindsAt(level: number): Kinds {
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
    const isThere = (since === '' || Number(since) <= level) && (until === '' || level <= Number(until))
    path = isThere ? first : undefined
  }
  return kinds
}

function servedKindsAt(minor: number): Kinds {
  const { resources } = createCatalogue('kubernetes', { minor })
  const stable = resources.filter(({ version }) => !version.includes('alpha'))
  return Object.fromEntries(stable.map((resource) => [`${resource.group}/${resource.version}/${resource.plural}`, printKind(resource)]))
}

/** A kind as a line of the file. */
function printKind({ kind, isNamespaced, verbs, shortNames, categories, subresources, storageVersionHash }: Resource): string {
  const list = (words: readonly string[]) => words.toSorted().join(',') || '-'
  const names = subresources.flatMap(({ name }) => (name === '' ? [] : [name]))
  return [
    ...[kind, isNamespaced ? 'N' : 'C', list(verbs), list(shortNames), list(categories), list(names)],
    storageVersionHash ?? '-',
  ].join(' ')
}
