import { checkQualifiedName, type FieldError, foregroundFinalizer, orphanFinalizer } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { invalidFor, invalidValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'

/** The rules of a Namespace: its finalizers are qualified names. */
export function validateNamespace(namespace: Part, _live: Part | undefined, names: Names): FieldError[] {
  const known = [names.namespaceFinalizer, orphanFinalizer, foregroundFinalizer]
  return itemsOf<string>(partOf(namespace, 'spec'), 'finalizers').flatMap((finalizer) => {
    const errors = invalidFor('spec.finalizers', finalizer, checkQualifiedName(finalizer))
    if (finalizer.includes('/') || known.includes(finalizer)) return errors
    return [...errors, invalidValue('spec.finalizers', finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]
  })
}

/** The phase of a Namespace must agree with its deletion timestamp. */
export function validateNamespaceStatus(namespace: Part): FieldError[] {
  const phase = textOf(partOf(namespace, 'status'), 'phase')
  const isGoing = partOf(namespace, 'metadata')['deletionTimestamp'] != null
  if (!isGoing && phase !== 'Active') {
    return [invalidValue('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  }
  if (isGoing && phase !== 'Terminating') {
    return [invalidValue('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
  }
  return []
}
