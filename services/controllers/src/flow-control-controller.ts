import { unlessGone } from '@orch/client'
import { printTime, toInstant } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { danglingOf, flowControlGroup } from './flow-control-objects.ts'
import { done, mapped, own, reconciler } from './reconciler/index.ts'

type FlowSchema = BuiltIn<'flowcontrol/v1.FlowSchema'>

type Condition = BuiltIn<'flowcontrol/v1.FlowSchemaCondition'>

/** Maintains the condition Dangling of each FlowSchema: true if its priority level does not exist, so that it has no effect. */
export const flowControlController = (level: number) =>
  reconciler<FlowSchema>('flow-control', ({ names }) => {
    const { group, version, appliesStatus } = flowControlGroup(names, level)
    const type = appliesStatus ? ({ type: 'apply', force: true } as const) : ({ type: 'strategic' } as const)
    const schemas = own<FlowSchema>(`${group}/${version}`, 'flowschemas')
    const levels = mapped(`${group}/${version}`, 'prioritylevelconfigurations', ({ object }, caches) =>
      [...caches.read(schemas).values()].flatMap((schema) =>
        levelOf(schema) === object.metadata.name ? (schema.metadata.name ?? []) : [],
      ),
    )
    return {
      watches: [schemas, levels],
      workersMax: 1,
      reconcile: async ({ key, object: schema, world, clock, signal }) => {
        const isThere = world.read(levels).get(levelOf(schema)) !== undefined
        const condition = decideCondition(schema, isThere, printTime(toInstant(clock.now())))
        if (condition === undefined) return done
        const { apiVersion, kind } = schema
        const patch = { apiVersion, kind, metadata: { name: key }, status: { conditions: [condition] } }
        const options = { ...type, subresource: 'status', fieldManager: names.flowControlConsumer, signal }
        await unlessGone(() => world.collection(schemas).patch(key, patch, options))
        return done
      },
    }
  })

/** The condition of a FlowSchema for a present or absent priority level; undefined if it is current. */
export function decideCondition(schema: FlowSchema, isThere: boolean, now: string): Condition | undefined {
  const current = schema.status?.conditions?.find(({ type }) => type === 'Dangling')
  const wanted = danglingOf(levelOf(schema), isThere)
  if (current?.status === wanted.status && current.message === wanted.message) return undefined
  return { ...wanted, lastTransitionTime: current?.status === wanted.status ? current.lastTransitionTime : now }
}

function levelOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration?.name ?? ''
}
