import { printDuration } from '../meta/duration.ts'
import { backoffFirstMs, backoffMaxMs, type State } from './container-state.ts'
import type { LifeStep, PodEvent } from './life-step.ts'
import type { PodContainer } from './phase.ts'
import { type ContainerScript, pullProblem } from './script-model.ts'

/** Time from a failed pull until the state ImagePullBackOff. */
const pullRefusedMs = 1000

const namePart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const host = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[a-fA-F0-9:]+\\])(?::\\d+)?'
const tagAndDigest = '(?::\\w[\\w.-]{0,127})?(?:@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?'
const reference = new RegExp(`^(?:${host}/)?${namePart}(?:/${namePart})*${tagAndDigest}$`)

/** The reason why an image has an invalid name; undefined if it is valid. */
function nameProblem(image: string): string | undefined {
  if (image === '' || reference.test(image)) return undefined
  const [, first = '', rest = image] = /^([^/]*)\/(.*)$/s.exec(image) ?? []
  const hasHost = /[.:A-Z]/.test(first) || first === 'localhost'
  const [name = ''] = (hasHost ? rest : first === '' ? `library/${image}` : image).split(':')
  return `invalid reference format${/[A-Z]/.test(name) ? `: repository name (${name}) must be lowercase` : ''}`
}

/** A container whose image is being pulled or could not be pulled. */
export type PullState = Extract<State, { kind: 'pulling' | 'unpulled' }>

/** An image that no pull can make present. */
interface Refused {
  readonly reason: 'ErrImageNeverPull' | 'InvalidImageName'
  readonly event: string
  readonly message: string
}

/** Reports an event of a container. */
type Report = (step: LifeStep, type: PodEvent['type'], reason: string, message: string) => void

/** Pulls the image of one container. A pulled image stays on the node. */
export class ImagePull {
  failed = 0
  readonly #policy: PodContainer['imagePullPolicy']
  /** In quotes. */
  readonly #image: string
  readonly #problem: string | undefined
  readonly #script: ContainerScript['pull']
  readonly #report: Report
  #isPulled = false

  constructor({ image = '', imagePullPolicy }: PodContainer, script: ContainerScript['pull'], report: Report) {
    this.#policy = imagePullPolicy
    this.#image = JSON.stringify(image)
    this.#problem = nameProblem(image)
    this.#script = script
    this.#report = report
  }

  /** Begins a pull; undefined if the image is present. */
  begin(step: LifeStep): PullState | undefined {
    const { nowMs } = step
    const { ms, failures } = this.#script
    if (this.#problem !== undefined) {
      const message = `Failed to apply default image tag ${this.#image}: couldn't parse image name ${this.#image}: ${this.#problem}`
      return this.#refuse({ reason: 'InvalidImageName', event: 'InspectFailed', message }, step)
    }
    const isPresent = (ms === 0 && failures === 0) || (this.#isPulled && this.#policy !== 'Always')
    if (isPresent) {
      const accessible = step.level >= 35 ? ' and can be accessed by the pod' : ''
      this.#report(step, 'Normal', 'Pulled', `Container image ${this.#image} already present on machine${accessible}`)
      return undefined
    }
    if (this.#policy === 'Never') {
      const reason = 'ErrImageNeverPull'
      return this.#refuse(
        { reason, event: reason, message: `Container image ${this.#image} is not present with pull policy of Never` },
        step,
      )
    }
    this.#report(step, 'Normal', 'Pulling', `Pulling image ${this.#image}`)
    return ms > 0 ? { kind: 'pulling', beganMs: nowMs, untilMs: nowMs + ms } : this.end(nowMs, step)
  }

  #refuse({ reason, event, message }: Refused, step: LifeStep): PullState {
    this.#report(step, 'Warning', event, message)
    this.#report(step, 'Warning', 'Failed', `Error: ${reason}`)
    return { kind: 'unpulled', reason, message, untilMs: Number.POSITIVE_INFINITY }
  }

  /** Ends a pull that began at this time; undefined if the image is now present. */
  end(beganMs: number, step: LifeStep): PullState | undefined {
    const { error = pullProblem, failures } = this.#script
    if (this.failed < failures) return this.#fail(error, step)
    const took = printDuration(BigInt(Math.round(step.nowMs - beganMs)) * 1_000_000n)
    const waited = step.level < 28 ? '' : ` (${took} including waiting)`
    const size = step.level < 31 ? '' : '. Image size: 0 bytes.'
    this.#report(step, 'Normal', 'Pulled', `Successfully pulled image ${this.#image} in ${took}${waited}${size}`)
    this.#isPulled = true
    return undefined
  }

  #fail(message: string, step: LifeStep): PullState {
    this.failed += 1
    this.#report(step, 'Warning', 'Failed', `Failed to pull image ${this.#image}: ${message}`)
    this.#report(step, 'Warning', 'Failed', 'Error: ErrImagePull')
    return { kind: 'unpulled', reason: 'ErrImagePull', message, untilMs: step.nowMs + pullRefusedMs }
  }

  wait(problem: string, step: LifeStep): PullState {
    const text = `Back-off pulling image ${this.#image}`
    this.#report(step, 'Normal', 'BackOff', text)
    this.#report(step, 'Warning', 'Failed', 'Error: ImagePullBackOff')
    const delayMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** (this.failed - 1)) - pullRefusedMs
    const message = step.level < 32 ? text : `${text}: ErrImagePull: ${problem}`
    return { kind: 'unpulled', reason: 'ImagePullBackOff', message, untilMs: step.nowMs + delayMs }
  }
}
