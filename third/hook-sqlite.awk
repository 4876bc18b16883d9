# Copies SQLite's amalgamation, and adds calls (sqlite-hooks.h) where a text is read as a number or ordered against one:
# SQLite takes '1.234,56' for 1.234 and says nothing. Ends the build when a place is not there exactly once, as after a
# change of version.
BEGIN { print "const struct al_sqlite_hooks *al_sqlite_hooks;" }

# Arithmetic.
$0 == "  rc = sqlite3MemRealValueRC(pMem, &pMem->u.r);" {
    n[1]++
    print
    print "  if( rc<=0 ) AL_MET_TEXT(pMem, AL_SQLITE_ARITHMETIC);"
    next
}
# CAST AS NUMERIC.
$0 == "    rc = sqlite3MemRealValueRC(pMem, &pMem->u.r);" {
    n[2]++
    print
    print "    if( rc<=0 ) AL_MET_TEXT(pMem, AL_SQLITE_VALUE);"
    next
}
# sqlite3_value_double() of functions, CAST AS REAL.
$0 == "  (void)sqlite3MemRealValueRC(pMem, &r);" {
    n[3]++
    print "  if( sqlite3MemRealValueRC(pMem, &r)<=0 ) AL_MET_TEXT(pMem, AL_SQLITE_VALUE);"
    next
}
# sqlite3_value_int64() of functions, CAST AS INTEGER. What is no wholly numeric text is seen by who is told.
$0 == "  sqlite3Atoi64(pMem->z, &value, pMem->n, pMem->enc);" {
    n[4]++
    print
    print "  AL_MET_TEXT(pMem, AL_SQLITE_INTEGER);"
    next
}
# A text as a condition.
$0 == "  return sqlite3VdbeRealValue(pMem)!=0.0;" {
    n[5]++
    print "  if( pMem->flags & (MEM_Str|MEM_Blob) ){"
    print "    double al_r;"
    print "    if( sqlite3MemRealValueRC(pMem, &al_r)<=0 ) AL_MET_TEXT(pMem, AL_SQLITE_TRUTH);"
    print "    return al_r!=0.0;"
    print "  }"
    print
    next
}
# Functions that answer NULL for what is no number: sqrt() and its like.
$0 == "    eType = sqlite3_value_type(pVal);" {
    n[6]++
    print
    print "    if( eType==SQLITE_TEXT ) AL_MET_TEXT(pMem, AL_SQLITE_VALUE);"
    next
}
# = <> < <= > >= BETWEEN.
$0 == "    res = sqlite3MemCompare(pIn3, pIn1, pOp->p4.pColl);" {
    n[7]++
    print "    AL_COMPARED(db, pOp->opcode-OP_Ne, pIn3, pIn1);"
}
# max(a, b) and max(a).
$0 == "    if( (sqlite3MemCompare(argv[iBest], argv[i], pColl)^mask)>=0 ){" {
    n[8]++
    print "    AL_COMPARED(sqlite3_context_db_handle(context), AL_SQLITE_MINMAX, argv[iBest], argv[i]);"
}
$0 == "    cmp = sqlite3MemCompare(pBest, pArg, pColl);" {
    n[9]++
    print "    AL_COMPARED(sqlite3_context_db_handle(context), AL_SQLITE_MINMAX, pBest, pArg);"
}
# x IN (…) collects its NULLs with & over whatever it compares: nobody reads the bits.
$0 == "  iA = sqlite3VdbeIntValue(pIn2);" {
    n[16]++
    print "  const struct al_sqlite_hooks *al_were = al_sqlite_hooks;"
    print "  if( al_were && pOp->opcode==OP_BitAnd && (pOp->p1==pOp->p2 || pOp->p1==pOp->p3) ) al_sqlite_hooks = 0;"
}
$0 == "  iB = sqlite3VdbeIntValue(pIn1);" {
    n[17]++
    print
    print "  if( al_were ) al_sqlite_hooks = al_were;"
    next
}
# The comparisons' numbers are those of sqlite-hooks.h.
$0 ~ /^#define OP_Ne  / { first = $3; n[10]++ }
$0 ~ /^#define OP_Eq  / { n[11] += $3 == first + 1 }
$0 ~ /^#define OP_Gt  / { n[12] += $3 == first + 2 }
$0 ~ /^#define OP_Le  / { n[13] += $3 == first + 3 }
$0 ~ /^#define OP_Lt  / { n[14] += $3 == first + 4 }
$0 ~ /^#define OP_Ge  / { n[15] += $3 == first + 5 }
{ print }
END {
    for (i = 1; i <= 17; i++)
        if (n[i] != 1) {
            print "hook-sqlite.awk: place " i " was found " n[i] + 0 " times" > "/dev/stderr"
            exit 1
        }
}
