import { aDefinition } from '../../definition.ts'
/** The path of CustomResourceDefinitions. */
export const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
/** An object as parsed JSON. */
export type Json = Readonly<Record<string, unknown>>

/** A definition of things. */
export function definition(group: string, spec: Json): Json {
  return aDefinition({ group, plural: 'things', kind: 'Thing', schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } })
}

const sentence = 'Says how this part of the thing is to be, in so many words that a reader knows what is meant by it, and what is not.'
/** Properties that are named by numbers. */
export const members = <T>(count: number, name: string, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, make(index)]))

/** The group of a large definition. */
export function largeGroup(index: number): string {
  return `g${index}.example.com`
}

/** A definition of about 25 KB without rules. */
export const largeDefinition = (index: number): Json =>
  definition(largeGroup(index), {
    type: 'object',
    properties: members(12, 'part', (part) => ({
      type: 'object',
      description: `${sentence} It is the part ${part}.`,
      properties: members(12, 'field', (field) => ({
        type: 'string',
        maxLength: 63,
        description: `${sentence} ${index} ${part} ${field}`,
      })),
    })),
  })
