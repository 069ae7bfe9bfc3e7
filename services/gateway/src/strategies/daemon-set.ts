import { templateGenerationAnnotation } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** An annotation that the server sets counts the changes of the template. */
export const daemonSetStrategy: RulesOf<'apps/v1.DaemonSet'> = {
  prepareCreate(object) {
    if (!/^[1-9]\d{0,15}$/.test(generationOf(object))) setGeneration(object, '1')
  },
  completeUpdate(object, live) {
    const before = generationOf(live)
    setGeneration(object, templateOf(object) === templateOf(live) ? before : String(Number(before) + 1))
  },
}

function templateOf({ spec }: BuiltIn<'apps/v1.DaemonSet'>): string {
  return printJson(spec.template)
}

function generationOf({ metadata }: BuiltIn<'apps/v1.DaemonSet'>): string {
  return metadata.annotations?.[templateGenerationAnnotation] ?? '1'
}

function setGeneration(object: MutableBuiltIn<'apps/v1.DaemonSet'>, value: string): void {
  const annotations = { ...object.metadata.annotations, [templateGenerationAnnotation]: value }
  object.metadata = { ...object.metadata, annotations }
}
