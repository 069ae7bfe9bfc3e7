import { startInformer } from '@orch/client'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { createWorkqueue, sleep } from '@orch/platform'
import type { Controller } from './controller.ts'
import { flowControlGroup } from './flow-control-objects.ts'

type FlowSchema = ApiObject & {
  readonly spec?: { readonly priorityLevelConfiguration?: { readonly name?: string } }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** Tells in each FlowSchema's status whether the level that it names is there: one that dangles has no effect. */
export const flowControlController: Controller = {
  name: 'flow-control',
  async run({ client, names, queues, clock, random, log, signal }) {
    const address = { ...flowControlGroup(names), namespaced: false }
    const schemas = client.resource<FlowSchema>({ ...address, plural: 'flowschemas' })
    const levels = client.resource<ApiObject>({ ...address, plural: 'prioritylevelconfigurations' })
    const common = {
      signal,
      sleep: (delayMs: number, ending: AbortSignal) => sleep(clock, delayMs, ending),
      random,
      onError: (error: unknown) => log.debug({ err: error }, 'flow control is listed or watched again'),
    }
    const check = async (name: string): Promise<void> => {
      const schema = knownSchemas.get(name)
      if (schema === undefined) return
      const wanted = danglingOf(schema, (level) => knownLevels.get(level) !== undefined)
      const current = schema.status?.conditions?.find(({ type }) => type === 'Dangling')
      if (current?.status === wanted.status && current.message === wanted.message) return
      const isSame = current?.status === wanted.status
      const lastTransitionTime = isSame ? current.lastTransitionTime : printTime(toInstant(clock.now()))
      const others = (schema.status?.conditions ?? []).filter(({ type }) => type !== 'Dangling')
      const patch = { status: { conditions: [...others, { ...wanted, lastTransitionTime }] } }
      await schemas.patch(name, patch, { type: 'merge', subresource: 'status', fieldManager: names.flowControlConsumer, signal })
    }
    const queue = createWorkqueue({
      name: 'flow-control',
      metrics: queues,
      work: check,
      onError: (name, error) => log.warn({ flowSchema: name, err: error }, 'the status of a FlowSchema could not be written yet'),
      clock,
      random,
      signal,
      workersMax: 1,
    })
    const knownLevels = startInformer({
      ...common,
      resource: levels,
      onEvent: ({ object }) => {
        for (const schema of knownSchemas.values()) if (levelOf(schema) === object.metadata.name) queue.add(schema.metadata.name ?? '')
      },
    })
    const knownSchemas = startInformer({
      ...common,
      resource: schemas,
      onEvent: ({ kind, object }) => {
        if (kind !== 'deleted') void knownLevels.synced.then(() => queue.add(object.metadata.name ?? ''))
      },
    })
    await Promise.all([knownLevels.done, knownSchemas.done])
    await queue.close()
  },
}

function levelOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration?.name ?? ''
}

function danglingOf(schema: FlowSchema, isThere: (level: string) => boolean): Required<Omit<Condition, 'lastTransitionTime'>> {
  const level = levelOf(schema)
  const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  return isThere(level)
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${what} but there is no such object` }
}
