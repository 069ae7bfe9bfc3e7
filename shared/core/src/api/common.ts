import { type FieldDefinition, field, type ListOf, list, object, type RefTo, ref, type StructDefinition } from '../description/define.ts'

/** The metadata of an object. */
export const metadata = field(ref('meta/v1.ObjectMeta'), {
  tag: 1,
  doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
})

/** The metadata of a list. */
export const listMetadata = field(ref('meta/v1.ListMeta'), {
  tag: 1,
  doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
})

type ObjectList<Type extends string> = StructDefinition<
  { readonly metadata: typeof listMetadata; readonly items: FieldDefinition<ListOf<RefTo<Type>>, 'always'> },
  true
>

/** A list of objects of a type such as `core/v1.Pod`. */
export function objectList<Type extends string>(type: Type, lifetime: { readonly since?: number } = {}): ObjectList<Type> {
  const kind = type.slice(type.indexOf('.') + 1)
  const items = field(list(ref(type)), { tag: 2, required: true, doc: `The ${kind} objects of the list.` })
  return object({ metadata: listMetadata, items }, { ...lifetime, doc: `A list of ${kind} objects.` })
}
