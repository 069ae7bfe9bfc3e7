import type { FieldDefinition, InlineDefinition } from './fields.ts'
import type { Field, Node, StructNode } from './node.ts'
import { anyString } from './texts.ts'

/** A struct as it is declared; `resolveType` inserts the inlined fields. */
export interface StructDefinition<M extends Members = Members, HasTypeMeta extends boolean = boolean> {
  readonly kind: 'structDefinition'
  readonly members: M
  readonly hasTypeMeta: HasTypeMeta
  readonly facets: StructFacets
}

export type StructFacets = Omit<StructNode, 'kind' | 'fields' | 'hasTypeMeta'>

/** Makes a type on demand. */
export type TypeThunk = () => Node | StructDefinition

type Members = Readonly<Record<string, FieldDefinition | InlineDefinition>>

/** The description of a type, alone or with further facets. */
type About = string | (StructFacets & { readonly doc: string })

/** A builder of structs whose members are made on demand. */
const structsWith =
  <HasTypeMeta extends boolean>(hasTypeMeta: HasTypeMeta, preset: StructFacets = {}) =>
  <M extends Members>(about: About, membersOf: () => M) =>
  (): StructDefinition<M, HasTypeMeta> => ({
    kind: 'structDefinition',
    members: membersOf(),
    hasTypeMeta,
    facets: { ...preset, ...(typeof about === 'string' ? { doc: about } : about) },
  })

export const struct = structsWith(false)
/** A struct that server-side apply owns as a whole. */
export const atomicStruct = structsWith(false, { structType: 'atomic' })
/** A struct with `kind` and `apiVersion` before its other fields. */
export const object = structsWith(true)
/** The types of one package. An identity function that checks the shape and keeps the inferred type. */
export const defineTypes = <T extends Readonly<Record<string, TypeThunk>>>(types: T): T => types
const kindDoc = 'Kind is a string value, in CamelCase: the kind of the object, as its group version defines it. It cannot be changed.'
const apiVersionDoc =
  'APIVersion defines the group version in which the object is written. The server converts it to the version that was asked for.'

const typeMetaFields: readonly Field[] = [
  { name: 'kind', node: anyString, doc: kindDoc },
  { name: 'apiVersion', node: anyString, doc: apiVersionDoc },
]

/** A struct with named fields and with inlined fields inserted. */
export function completeStruct(definition: StructDefinition, resolveStruct: (name: string) => StructNode): StructNode {
  const { members, hasTypeMeta, facets } = definition
  const fields: Field[] = hasTypeMeta ? [...typeMetaFields] : []
  for (const [name, member] of Object.entries(members)) {
    if (member.kind === 'inline') {
      fields.push(...inlineFields(member, resolveStruct))
      continue
    }
    const { kind: _kind, ...field } = member
    fields.push({ name, ...field })
  }
  return { kind: 'struct', fields, hasTypeMeta, ...facets }
}

function inlineFields({ type, tag }: InlineDefinition, resolveStruct: (name: string) => StructNode): Field[] {
  return resolveStruct(type).fields.map((field) => {
    const { inlined: inner } = field
    return { ...field, inlined: { type, tag, ...(inner === undefined ? {} : { inner }) } }
  })
}
