import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseManifests, readManifests } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings, openCluster } from '../ctl.ts'
import { explained } from '../load/load.ts'
import { isDefinition } from '../load/store-objects.ts'
import { StartError, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings, splitWords } from '../settings/general.ts'

const { string } = settingTypes
const setting = settingsOf('Types')

/** The settings of `orch types`. */
export const typesSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  output: setting({ flag: '--output', type: string, defaultDoc: 'it is printed' }, 'File that the types are written to.'),
}

/** `orch types config/crd`: prints TypeScript types of definitions from files, or without a path from a running server. */
export async function typesCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(
    typesSettings,
    words.map((word) => (word === '-' ? standardInput : word)),
  )
  const { values } = await readCommandSettings(typesSettings, terminal, flags)
  const objects = await explained(async () => (paths.length === 0 ? definitionsOf(terminal, values) : objectsIn(terminal, paths)))
  const definitions = objects.filter(isDefinition)
  if (definitions.length === 0) throw new StartError(`${paths.join(', ') || 'the server'}: there is no CustomResourceDefinition`)
  const printed = printTypes(definitions)
  if (values.output === '') terminal.out(printed)
  else writeFileSync(resolve(terminal.workingFolder, values.output), printed)
  return 0
}

/** The file of the standard input. An argument `-` would be parsed as a flag. */
const standardInput = '/dev/stdin'

async function objectsIn({ workingFolder }: Terminal, paths: readonly string[]): Promise<ApiObject[]> {
  const found: ApiObject[] = []
  for (const path of paths) {
    const manifests =
      path === standardInput ? await parseManifests(await text(process.stdin), '-') : await readManifests([resolve(workingFolder, path)])
    for (const { object } of manifests) found.push(object)
  }
  return found
}

async function definitionsOf(terminal: Terminal, place: { readonly kubeconfig: string; readonly context: string }): Promise<ApiObject[]> {
  const { client } = await openCluster(terminal, place)
  try {
    const { resources } = await client.discoverVersions()
    const definitions = resources.find(({ kind, group }) => kind === 'CustomResourceDefinition' && group.startsWith('apiextensions.'))
    if (definitions === undefined) return []
    const { items } = await client.resource(definitions).listAll()
    return items.map((item) => ({ ...item, apiVersion: `${definitions.group}/${definitions.version}`, kind: definitions.kind }))
  } finally {
    client.close()
  }
}

type Members = Readonly<Record<string, unknown>>

interface DefinedVersion {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly schema: Members
  readonly isDeprecated: boolean
}

/**
 * Prints TypeScript types for the objects of definitions: for each version an interface with the version before the kind (`V1Widget`), and one for
 * its list. Members are sorted, so that equal definitions give equal texts.
 */
function printTypes(definitions: readonly ApiObject[]): string {
  const versions = definitions.flatMap(versionsOf).sort(byName)
  const texts = versions.map((one) => {
    const isShared = versions.some((other) => other !== one && other.kind === one.kind && other.version === one.version)
    return printVersion(one, (kind) => `${isShared ? pascal(one.group) : ''}${pascal(one.version)}${kind}`)
  })
  return `${[head, metadataText, ...texts].join('\n\n')}\n`
}

const head = '// Written by `orch types`. Changes are lost when it is written again.'

const metadataText = `/** The metadata of an object. */
export interface ObjectMeta {
  annotations?: { [key: string]: string }
  readonly creationTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly deletionTimestamp?: string
  finalizers?: string[]
  generateName?: string
  readonly generation?: number
  labels?: { [key: string]: string }
  managedFields?: {
    apiVersion?: string
    fieldsType?: string
    fieldsV1?: { [key: string]: unknown }
    manager?: string
    operation?: 'Apply' | 'Update'
    subresource?: string
    time?: string
  }[]
  name?: string
  namespace?: string
  ownerReferences?: {
    apiVersion: string
    blockOwnerDeletion?: boolean
    controller?: boolean
    kind: string
    name: string
    uid: string
  }[]
  resourceVersion?: string
  selfLink?: string
  readonly uid?: string
}

/** The metadata of a list. */
export interface ListMeta {
  readonly continue?: string
  readonly remainingItemCount?: number
  readonly resourceVersion?: string
}`

function byName(one: DefinedVersion, other: DefinedVersion): number {
  const [a, b] = [one, other].map(({ group, kind, version }) => `${group} ${kind} ${version}`)
  return (a ?? '') < (b ?? '') ? -1 : 1
}

function versionsOf({ spec }: ApiObject & { readonly spec?: unknown }): DefinedVersion[] {
  if (!isJsonObject(spec) || !isJsonObject(spec['names']) || !Array.isArray(spec['versions'])) return []
  const { names, group, versions } = spec
  const { kind, listKind = `${kind}List` } = names
  return versions.filter(isJsonObject).map((version) => {
    const { schema } = version
    return {
      group: String(group),
      version: String(version['name']),
      kind: String(kind),
      listKind: String(listKind),
      schema: isJsonObject(schema) && isJsonObject(schema['openAPIV3Schema']) ? schema['openAPIV3Schema'] : {},
      isDeprecated: version['deprecated'] === true,
    }
  })
}

/** `v1beta1` → `V1Beta1`, `example.com` → `ExampleCom`. */
function pascal(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]|(?<=\d)(?=[a-z]))([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function printVersion({ group, version, kind, listKind, schema, isDeprecated }: DefinedVersion, nameOf: (kind: string) => string): string {
  const apiVersion = { const: `${group}/${version}` }
  const own = { apiVersion, kind: { const: kind }, metadata: objectMeta }
  const { properties: given, required, ...rest } = schema
  const properties = { ...(isJsonObject(given) ? given : {}), ...own }
  const needs = [...new Set(['apiVersion', 'kind', 'metadata', ...(Array.isArray(required) ? required : [])])]
  const object = typeOf({ ...rest, type: 'object', properties, required: needs }, '')
  const list = {
    properties: {
      apiVersion,
      kind: { const: listKind },
      metadata: { reference: 'ListMeta' },
      items: { items: { reference: nameOf(kind) }, type: 'array' },
    },
    required: ['apiVersion', 'kind', 'metadata', 'items'],
    type: 'object',
  }
  const doc = docOf({ description: `${kind} of ${group}/${version}.`, ...rest, ...(isDeprecated ? { deprecated: true } : {}) }, '')
  return `${doc}export type ${nameOf(kind)} = ${object}\n\n/** A list of ${kind} objects. */\nexport type ${nameOf(listKind)} = ${typeOf(list, '')}`
}

/** A reference to the type ObjectMeta, which every printed file declares. */
const objectMeta = { reference: 'ObjectMeta' }

function typeOf(schema: Members, indent: string): string {
  const type = baseTypeOf(schema, indent)
  return schema['nullable'] === true && type !== 'unknown' ? `${type} | null` : type
}

function baseTypeOf(schema: Members, indent: string): string {
  const { reference, const: constant, enum: values, type, items } = schema
  if (typeof reference === 'string') return reference
  if (constant !== undefined) return literal(constant)
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string'
  if (Array.isArray(values) && values.length > 0) return values.map(literal).join(' | ')
  switch (type) {
    case 'string':
    case 'boolean':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayOf(isJsonObject(items) ? typeOf(items, indent) : 'unknown')
    case 'object':
      return objectOf(schema, indent)
    default:
      return 'unknown'
  }
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : quoted(value)
}

function quoted(value: unknown): string {
  return typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
    : JSON.stringify(value)
}

function arrayOf(item: string): string {
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function objectOf(schema: Members, indent: string): string {
  const { properties, additionalProperties, required } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const own = isEmbedded ? { apiVersion: { type: 'string' }, kind: { type: 'string' } } : {}
  const named: Members = { ...own, ...(isJsonObject(properties) ? properties : {}), ...(isEmbedded ? { metadata: objectMeta } : {}) }
  const needs: readonly unknown[] = [...(Array.isArray(required) ? required : []), ...Object.keys(own)]
  const inner = `${indent}  `
  const lines = Object.keys(named)
    .sort(byPlace)
    .map((name) => {
      const member = isJsonObject(named[name]) ? named[name] : {}
      return `${docOf(member, inner)}${inner}${key(name)}${needs.includes(name) ? '' : '?'}: ${typeOf(member, inner)}`
    })
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || lines.length === 0
  if (isJsonObject(additionalProperties)) lines.push(`${inner}[key: string]: ${typeOf(additionalProperties, inner)}`)
  else if (isOpen) lines.push(`${inner}[key: string]: unknown`)
  return lines.length === 1 && !lines[0]?.includes('\n') ? `{ ${lines[0]?.trim()} }` : `{\n${lines.join('\n')}\n${indent}}`
}

const firstMembers = ['apiVersion', 'kind', 'metadata', 'spec', 'status']

function byPlace(one: string, other: string): number {
  const place = (name: string) => (firstMembers.includes(name) ? firstMembers.indexOf(name) : firstMembers.length)
  return place(one) - place(other) || (one < other ? -1 : 1)
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

const lineLength = 120

/** The description of a schema as a comment, with its default. */
function docOf(schema: Members, indent: string): string {
  const { description, default: usual, deprecated } = schema
  const lines = [
    ...(typeof description === 'string' ? description.trim().split(/\r?\n/) : []),
    ...(usual === undefined ? [] : [`@default ${JSON.stringify(usual)}`]),
    ...(deprecated === true ? ['@deprecated'] : []),
  ]
    .flatMap((line) => wrapped(line.trim()))
    .map((line) => line.replaceAll('*/', '*\\/'))
  const [first = ''] = lines
  if (lines.length === 0 || (lines.length === 1 && first === '')) return ''
  if (lines.length === 1) return `${indent}/** ${first} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function wrapped(text: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= lineLength) {
      lines.push(line)
      line = word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}
