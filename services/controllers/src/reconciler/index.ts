/** Everything that a controller is written with. */
export { type Controller, type ControllerContext, startControllers } from '../controller.ts'
export * from '../informers/object-keys.ts'
export type { Reader } from '../informers/shared-informers.ts'
export * from './reconciler.ts'
export * from './watches.ts'
export * from './world.ts'
