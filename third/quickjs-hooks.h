/* Included before each file of the translated engine: where its traps and its growth go (src/jsvm/vm_trap.c).
 */
#include "wasm-rt.h"

WASM_RT_NO_RETURN void al_vm_trap(wasm_rt_trap_t code);
uint32_t al_vm_grow_memory(wasm_rt_memory_t *memory, uint32_t pages);
void al_vm_saw_out_of_memory(void);
