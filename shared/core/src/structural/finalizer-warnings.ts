import { foregroundFinalizer, orphanFinalizer } from '../meta/object-meta.ts'
import type { Names } from '../names.ts'
import { itemsOf, type Part, partOf } from '../validation/part.ts'

/**
 * Warnings about finalizers that a custom object gets and whose names other writers may use as well, in the order of the names. Rule and
 * texts are those of kube-apiserver (`validateKubeFinalizerName` of its custom resources).
 */
export function warningsOfFinalizers(object: Part, live: Part | undefined, names: Pick<Names, 'namespaceFinalizer'>): readonly string[] {
  const finalizers = finalizersOf(object)
  if (finalizers.length === 0) return finalizers
  const expected = new Set([orphanFinalizer, foregroundFinalizer, names.namespaceFinalizer, ...finalizersOf(live)])
  return [...new Set(finalizers)]
    .filter((name) => !name.includes('/') && !expected.has(name))
    .sort()
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : ''
      const how = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
      return `metadata.finalizers: ${JSON.stringify(name)}: ${how}`
    })
}

function finalizersOf(object: Part | undefined): readonly string[] {
  return itemsOf<string>(partOf(object, 'metadata'), 'finalizers')
}
