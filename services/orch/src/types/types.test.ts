import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { start } from '../index.ts'
import { printingTerminal } from '../process/terminal-testing.ts'

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: "A widget, of */ some size."
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, description: Its size., default: 3}
              colour: {type: string, enum: [red, "it's", '']}
              port: {x-kubernetes-int-or-string: true}
              ports: {type: array, items: {x-kubernetes-int-or-string: true}}
              labels: {type: object, additionalProperties: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              any: {x-kubernetes-preserve-unknown-fields: true}
              "odd-name": {type: boolean, nullable: true}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              conditions: {type: array, items: {type: object, required: [type], properties: {type: {type: string}, status: {type: string}}}}
          status: {type: object, properties: {ready: {type: boolean}}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const types = String.raw`/** A widget, of *\/ some size. */
export type V1Widget = {
  apiVersion: 'example.com/v1'
  kind: 'Widget'
  metadata: ObjectMeta
  spec: {
    any?: unknown
    colour?: 'red' | 'it\'s' | ''
    conditions?: {
      status?: string
      type: string
    }[]
    free?: { [key: string]: unknown }
    labels?: { [key: string]: string }
    'odd-name'?: boolean | null
    port?: number | string
    ports?: (number | string)[]
    /**
     * Its size.
     * @default 3
     */
    size: number
    template?: {
      apiVersion: string
      kind: string
      metadata?: ObjectMeta
      [key: string]: unknown
    }
  }
  status?: { ready?: boolean }
}

/** A list of Widget objects. */
export type V1WidgetList = {
  apiVersion: 'example.com/v1'
  kind: 'WidgetList'
  metadata: ListMeta
  items: V1Widget[]
}

/**
 * Widget of example.com/v1beta1.
 * @deprecated
 */
export type V1Beta1Widget = {
  apiVersion: 'example.com/v1beta1'
  kind: 'Widget'
  metadata: ObjectMeta
  [key: string]: unknown
}

/** A list of Widget objects. */
export type V1Beta1WidgetList = {
  apiVersion: 'example.com/v1beta1'
  kind: 'WidgetList'
  metadata: ListMeta
  items: V1Beta1Widget[]
}
`

async function run(files: Readonly<Record<string, string>>, ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'types-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { printed, terminal } = printingTerminal(folder, ['types', ...words])
  const code = await runCommand(terminal)
  return { code, folder, ...printed }
}

test('types of all versions are printed: members with their descriptions, enums, maps, open objects and embedded metadata', async () => {
  const { code, out } = await run({ 'crd.yaml': definition }, 'crd.yaml')
  expect([code, out.slice(out.indexOf('/** A widget'))]).toEqual([0, types])
  expect(out).toContain('export interface ObjectMeta {')
})

test('a server with the same definition gives the same types, which may be written to a file', async () => {
  await using server = await start({ profile: 'kubernetes' })
  const { folder } = await run({ 'crd.yaml': definition }, 'crd.yaml', '--output=widgets.ts')
  await server.install(join(folder, 'crd.yaml'))
  const { code, out } = await run({ 'admin.conf': server.kubeconfig }, '--kubeconfig=admin.conf')
  expect([code, out]).toEqual([0, readFileSync(join(folder, 'widgets.ts'), 'utf8')])
})

test('type names of kinds in two groups begin with the group, in the order of the groups', async () => {
  const other = definition.replaceAll('example.com', 'a-b.io')
  const { out } = await run({ 'crd.yaml': `${definition}---\n${other}` }, '.')
  expect(out.match(/(?<=export type )\w*Widget(?= )/g)).toEqual([
    'ABIoV1Widget',
    'ABIoV1Beta1Widget',
    'ExampleComV1Widget',
    'ExampleComV1Beta1Widget',
  ])
})

test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
  [
    'a file without definitions',
    { 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {}\n' },
    ['a.yaml'],
    'a.yaml: there is no CustomResourceDefinition',
  ],
  ['a file that is not there', {}, ['absent.yaml'], 'absent.yaml: there is no such file or folder'],
])('%s is refused with a sentence', async (_what, files, words, message) => {
  expect(await run(files, ...words)).toMatchObject({ code: 1, out: '', error: expect.stringContaining(message) })
})
