import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseManifests, readManifests } from './manifests.ts'

const text = `# first
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  text: |
    one
    --- two
---
# nothing
--- # with a comment
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- {apiVersion: v1, kind: Secret, metadata: {name: c}}
...
`

describe('the objects of a text', () => {
  test('are one for each document with its line, and the items of a list', async () => {
    const found = await parseManifests(text, 'f.yaml')
    expect(found.map(({ object, line }) => [object.kind, object.metadata.name, line])).toEqual([
      ['ConfigMap', 'a', 1],
      ['ConfigMap', 'b', 11],
      ['Secret', 'c', 11],
    ])
    expect(found[0]?.object['data']).toEqual({ text: 'one\n--- two\n' })
  })

  test('are none if the items of a list are null, the form in which Go prints an empty list', async () => {
    expect(await parseManifests('kind: PodList\napiVersion: v1\nitems: null\n', 'f.yaml')).toEqual([])
  })

  test('are read from JSON', async () => {
    const [found] = await parseManifests('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}\n', 'f.json')
    expect(found).toMatchObject({ file: 'f.json', line: 1, object: { metadata: { name: 'a' } } })
  })

  test.each([
    ['a: [', 'f:1: '],
    ['---\n- a\n', 'f:1: an object was expected'],
    ['---\n\n---\nkind: A\n', 'f:3: the object has no apiVersion or no kind'],
    ['kind: A\napiVersion: v1\n', 'f:1: the A has no metadata'],
  ])('are refused with their place: %j', async (bad, message) => {
    await expect(parseManifests(bad, 'f')).rejects.toThrow(message)
  })
})

describe('the objects of files and folders', () => {
  test('are in order: the YAML and JSON files of a folder by name, without subfolders', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'manifests-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'inner.yaml'))
    const put = (file: string, name: string) => writeFileSync(join(folder, file), `{apiVersion: v1, kind: A, metadata: {name: ${name}}}`)
    put('b.yaml', 'b')
    put('a.json', 'a')
    put('c.yml', 'c')
    put('d.txt', 'd')
    put('inner.yaml/e.yaml', 'e')
    const names = (await readManifests([folder, join(folder, 'd.txt')])).map(({ object }) => object.metadata.name)
    expect(names).toEqual(['a', 'b', 'c', 'd'])
    await expect(readManifests([join(folder, 'no')])).rejects.toThrow('no: there is no such file or folder')
  })
})
