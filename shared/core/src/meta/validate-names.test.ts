import { describe, expect, test } from 'vitest'
import { storageVersion } from '../catalogue/kinds/apiserverinternal/storage-version.ts'
import { type LevelText, textAt } from './level-text.ts'
import {
  annotationsBytesMax,
  annotationsFit,
  checkLabel,
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
  checkSubdomain,
  generateName,
  type NameKind,
} from './validate-names.ts'

const textsAt = (level: number, texts: readonly LevelText[]): string[] => texts.map((text) => textAt(text, level))

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

test('META-21: a StorageVersion is named by a group and a resource, and a base of a generated name likewise', () => {
  const { nameKind } = storageVersion
  if (typeof nameKind !== 'function') throw new Error('the name has a form of its own')
  const problemsOf = (name: string) => [checkName(nameKind({}), name), checkNamePrefix(nameKind({}), name)]
  expect(problemsOf('apps.deployments')).toEqual([[], []])
  const form = ['name must be in the form of <group>.<resource>']
  expect(problemsOf('apps')).toEqual([form, form])
  const wrongResource = [`the resource segment ${label1035Text}`]
  expect(problemsOf('apps.deployments-')).toEqual([wrongResource, wrongResource])
  expect(problemsOf('Apps.1')[0]).toEqual([`the group segment ${subdomainText}`, ...wrongResource])
})

describe('META-21: names', () => {
  const rows: [kind: NameKind, name: string, problems: string[]][] = [
    ['subdomain', 'a', []],
    ['subdomain', 'a.b-c.d', []],
    ['subdomain', '0', []],
    ['subdomain', 'A', [subdomainText]],
    ['subdomain', 'a..b', [subdomainText]],
    ['subdomain', '-a', [subdomainText]],
    ['subdomain', '', [subdomainText]],
    ['subdomain', 'a'.repeat(253), []],
    ['subdomain', 'a'.repeat(254), ['must be no more than 253 characters']],
    ['subdomain', 'A'.repeat(300), ['must be no more than 253 characters', subdomainText]],
    ['label', 'abc-1', []],
    ['label', 'a.b', [labelText]],
    ['label', 'a'.repeat(64), ['must be no more than 63 characters']],
    ['label1035', 'abc-1', []],
    ['label1035', '1abc', [label1035Text]],
    ['pathSegment', 'system:node Admin', []],
    ['pathSegment', '.', ["may not be '.'"]],
    ['pathSegment', '..', ["may not be '..'"]],
    ['pathSegment', 'a/b%c', ["may not contain '/'", "may not contain '%'"]],
  ]
  test.each(rows)('a %s named %s has the expected errors', (kind, name, problems) => {
    expect(textsAt(25, checkName(kind, name))).toEqual(problems)
  })

  test('a generateName may end in a dash', () => {
    expect(checkNamePrefix('subdomain', 'web-')).toEqual([])
    expect(checkNamePrefix('subdomain', 'Web-')).toEqual([subdomainText])
    expect(checkNamePrefix('subdomain', '-')).toEqual([subdomainText])
  })
})

describe('META-21: label and annotation keys', () => {
  const rows: [key: string, problems: string[]][] = [
    ['app', []],
    ['example.com/App_1', []],
    ['', ['name part must be non-empty', `name part ${qualifiedText}`]],
    ['/a', ['prefix part must be non-empty']],
    ['a/', ['name part must be non-empty', `name part ${qualifiedText}`]],
    ['a/b/c', [`a qualified name ${qualifiedText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]],
    ['Example.com/a', [`prefix part ${subdomainText}`]],
    ['a'.repeat(64), ['name part must be no more than 63 characters']],
    ['a b', [`name part ${qualifiedText}`]],
  ]
  test.each(rows)('have the expected errors: %j', (key, problems) => {
    expect(textsAt(25, checkQualifiedName(key))).toEqual(problems)
  })
})

test.each([
  ['', []],
  ['a_B.c-1', []],
  ['a b', [labelValueText]],
  ['-a', [labelValueText]],
  ['a'.repeat(64), ['must be no more than 63 characters']],
])('META-21: the label value %j has the expected errors', (value, problems) => {
  expect(textsAt(25, checkLabelValue(value))).toEqual(problems)
})

test('the size of annotations is counted in UTF-8 bytes, keys included', () => {
  expect(annotationsFit({ a: 'x'.repeat(annotationsBytesMax - 1) })).toBe(true)
  expect(annotationsFit({ a: 'x'.repeat(annotationsBytesMax) })).toBe(false)
  expect(annotationsFit({ a: 'é'.repeat(annotationsBytesMax / 2 - 1) })).toBe(true)
  expect(annotationsFit({ ab: 'é'.repeat(annotationsBytesMax / 2 - 1) })).toBe(true)
  expect(annotationsFit({ abc: 'é'.repeat(annotationsBytesMax / 2 - 1) })).toBe(false)
  expect(annotationsFit({ abcd: '😀'.repeat(annotationsBytesMax / 4 - 1) })).toBe(true)
  expect(annotationsFit({ abcde: '😀'.repeat(annotationsBytesMax / 4 - 1) })).toBe(false)
})

test('META-09: a generated name is the base, cut to 58 characters, and five characters of the alphabet', () => {
  let next = 0
  const random = (bound: number): number => next++ % bound
  expect(generateName('web-', random)).toBe('web-bcdfg')
  expect(generateName('g'.repeat(80), random)).toBe(`${'g'.repeat(58)}hjklm`)
})

test('TODAY-ALL-03: since 1.34 messages about labels mention bytes, and dots if a name contains them', () => {
  const long = 'a'.repeat(64)
  expect(textsAt(34, checkLabelValue(long))).toEqual(['must be no more than 63 bytes'])
  expect(textsAt(34, checkQualifiedName(long))).toEqual(['name part must be no more than 63 bytes'])
  expect(textsAt(34, checkQualifiedName('a/b/c'))).toEqual([expect.stringMatching(/^a valid label key must consist of/)])
  expect(textsAt(34, checkLabel('a.b'))).toEqual(['must not contain dots'])
  expect(textsAt(34, checkLabel('a..b'))).toEqual([expect.stringMatching(/^a lowercase RFC 1123 label must/)])
  expect(textsAt(34, checkSubdomain('a'.repeat(254)))).toEqual(['must be no more than 253 characters'])
})
