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
    const { group, version } = flowControlGroup(names, level)
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
        const conditions = decideConditions(schema, isThere, printTime(toInstant(clock.now())))
        if (conditions === undefined) return done
        const options = { type: 'merge', subresource: 'status', fieldManager: names.flowControlConsumer, signal } as const
        await unlessGone(() => world.collection(schemas).patch(key, { status: { conditions } }, options))
        return done
      },
    }
  })

/** The conditions of a FlowSchema for a present or absent priority level; undefined if they are current. */
export function decideConditions(schema: FlowSchema, isThere: boolean, now: string): readonly Condition[] | undefined {
  const known = schema.status?.conditions ?? []
  const current = known.find(({ type }) => type === 'Dangling')
  const wanted = danglingOf(levelOf(schema), isThere)
  if (current?.status === wanted.status && current.message === wanted.message) return undefined
  const lastTransitionTime = current?.status === wanted.status ? current.lastTransitionTime : now
  return [...known.filter(({ type }) => type !== 'Dangling'), { ...wanted, lastTransitionTime }]
}

function levelOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration?.name ?? ''
}
