import { inVersion } from '../description/in-version.ts'
import { defineTypes } from '../description/structs.ts'
import { storagemigrationV1 } from './storagemigration-v1.ts'

/** The types of storagemigration/v1beta1: those of v1. */
export const storagemigrationV1beta1 = defineTypes(
  inVersion(storagemigrationV1, { from: 'storagemigration/v1', to: 'storagemigration/v1beta1' }),
)
