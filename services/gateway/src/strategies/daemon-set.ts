import { templateGenerationAnnotation } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

/** An annotation counts the changes of the template; it is the server's to say. */
export const daemonSetStrategy: KindRules = {
  prepareCreate(object) {
    if (!/^[1-9]\d{0,15}$/.test(generationOf(object))) setGeneration(object, '1')
  },
  completeUpdate(object, live) {
    const before = generationOf(live)
    setGeneration(object, templateOf(object) === templateOf(live) ? before : String(Number(before) + 1))
  },
}

function templateOf({ spec }: ApiObject): string {
  return printJson((spec as { template?: unknown } | undefined)?.template ?? null)
}

function generationOf({ metadata }: ApiObject): string {
  return metadata.annotations?.[templateGenerationAnnotation] ?? '1'
}

function setGeneration(object: ApiObject, value: string): void {
  const annotations = { ...object.metadata.annotations, [templateGenerationAnnotation]: value }
  object.metadata = { ...object.metadata, annotations }
}
