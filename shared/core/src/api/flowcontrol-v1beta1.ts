import { inVersion } from '../description/in-version.ts'
import { flowcontrolV1beta2 } from './flowcontrol-v1beta2.ts'

/** The types of flowcontrol/v1beta1, which are those of v1beta2. */
export const flowcontrolV1beta1 = inVersion(flowcontrolV1beta2, { from: 'flowcontrol/v1beta2', to: 'flowcontrol/v1beta1' })
