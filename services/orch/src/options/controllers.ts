import { type ControllerName, selectControllers } from '@orch/controllers'
import { SettingsError, type Values } from '@orch/platform'
import type { controllersSettings } from '../settings/controllers.ts'

/** The controllers that words such as `*` and `-namespace` mean. */
export function readControllers({ controllers }: Values<typeof controllersSettings>): ControllerName[] {
  try {
    return selectControllers(controllers)
  } catch (error) {
    throw new SettingsError(`--controllers: ${(error as Error).message}`)
  }
}
