import { type FieldDefinition, field, required } from '../description/fields.ts'
import type { FieldFacets } from '../description/node.ts'
import { object, type StructDefinition } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { type ListOf, list, type RefTo, ref, time } from '../description/values.ts'
import { actingSteps } from '../gate-steps.ts'

/** The metadata of an object. */
export const metadata = field(ref('meta/v1.ObjectMeta'), 1, {
  doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
})

/** The metadata of a list. */
export const listMetadata = field(ref('meta/v1.ListMeta'), 1, {
  doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
})

type ObjectList<Type extends string> = () => StructDefinition<
  { readonly metadata: typeof listMetadata; readonly items: FieldDefinition<ListOf<RefTo<Type>>, 'always'> },
  true
>

/** A list of objects of a type such as `core/v1.Pod`. */
export function objectList<Type extends string>(type: Type, lifetime: { readonly since?: number } = {}): ObjectList<Type> {
  const kind = type.slice(type.indexOf('.') + 1)
  return object({ ...lifetime, doc: `A list of ${kind} objects.` }, () => ({
    metadata: listMetadata,
    items: required(list(ref(type)), 2, `The ${kind} objects of the list.`),
  }))
}

/** The fields of a condition about its last change; the first has this tag. */
export const lastChange = (tag: number) => ({
  lastTransitionTime: field(time(), tag, 'Time of the last change of the status from one value to another.'),
  reason: field(string(), tag + 1, 'Reason of the status in one CamelCase word, for programs.'),
  message: field(string(), tag + 2, 'Details of the last change, for people.'),
})

/** The facets of a field that documents require up to a level. Since then it is printed even if it is empty. */
export function requiredUntil(level: number): { readonly required: true; readonly changes: FieldFacets['changes'] & object } {
  return { required: true, changes: { [level + 1]: { required: false, keepEmpty: true } } }
}

/** The facets of a field that was added together with the gate of its feature. */
export function gated(gate: string): { readonly featureGate: string; readonly since: number } {
  const [first = ''] = actingSteps[gate] ?? []
  return { featureGate: gate, since: Number.parseInt(first, 10) }
}
