import type { PodContainer } from './phase.ts'
import type { ContainerScript, HookKind } from './script-model.ts'
import { findAnswer } from './script-object.ts'

type Lifecycle = NonNullable<PodContainer['lifecycle']>

/** The result of a lifecycle hook. */
export interface Hook {
  readonly ms: number
  readonly fails: boolean
  /** True if its call is made, which ends it. */
  readonly isCalled?: boolean
}

/** A postStart hook that runs: the container does not count as started before its end. */
export interface StartHook extends Omit<Hook, 'ms'> {
  readonly untilMs: number
}

/** Milliseconds of the units of a sleep. */
const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The milliseconds of an argument of `sleep`; undefined for another text. */
export function sleepMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d*)?|\.\d+)([smhd]?)$/.exec(text) ?? []
  if (/^inf(?:inity)?$/i.test(text)) return Number.POSITIVE_INFINITY
  return count === undefined ? undefined : Number(count) * (unitsMs[unit] ?? 1000)
}

/**
 * The result of a hook, known before it runs unless its call is made: it sleeps, a script answers its command, or its command contains
 * sleeps. Other programs and calls succeed at once.
 */
export function hookOf(kind: HookKind, { lifecycle }: PodContainer, script: ContainerScript): Hook | undefined {
  const handler: Lifecycle['preStop'] = lifecycle?.[kind]
  if (handler == null) return undefined
  if (script.asked?.includes(kind) === true) return { ms: Number.POSITIVE_INFINITY, fails: false, isCalled: true }
  if (handler.sleep != null) return { ms: Number(handler.sleep.seconds) * 1000, fails: false }
  const command = handler.exec?.command ?? []
  const answer = findAnswer(script.exec, command)
  if (answer !== undefined) return { ms: answer.afterMs, fails: answer.exitCode !== 0 }
  const sleeps = command.join(' ').matchAll(/(?:^|[\s;&|/(])sleep\s+([\w.]+)(?=$|[\s;&|)])/g)
  return { ms: [...sleeps].reduce((sum, [, time = '']) => sum + (sleepMs(time) ?? 0), 0), fails: false }
}

/** The end of the postStart hook of a container that starts now; undefined without a hook that changes anything. */
export function startHookOf(container: PodContainer, script: ContainerScript, nowMs: number): StartHook | undefined {
  const { ms = 0, fails = false, ...rest } = hookOf('postStart', container, script) ?? {}
  return ms > 0 || fails ? { untilMs: nowMs + ms, fails, ...rest } : undefined
}
