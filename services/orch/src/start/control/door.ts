import type { ControlHandler } from '@orch/gateway'
import type { Control } from './control.ts'
import { failure } from './route.ts'

/** Receives the address of the control, which starts after the gateway. */
export class ControlDoor {
  #control: Control | undefined

  readonly handle: ControlHandler = async (call) => {
    if (this.#control === undefined) throw failure(503, 'ServiceUnavailable', 'the server is starting')
    return this.#control.handle(call)
  }

  open(control: Control): void {
    this.#control = control
  }

  async close(): Promise<void> {
    await this.#control?.close()
  }
}
