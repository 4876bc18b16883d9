/* Words that mean the same, and names of months and weekdays. */
#include "dashboard/profile_int.h"

#include <string.h>

/* A group a line: singulars without accents, English, then Spanish. */
static const char *const groups[] = {
    "sale revenue turnover amount amt takings venta ingreso facturacion recaudacion monto importe",
    "profit earning margin rentabilidad utilidad ganancia beneficio margen",
    "cost expense expenditure spend spending costo coste gasto egreso",
    "quantity qty unit volume cantidad unidad volumen",
    "price precio tarifa",
    "gross bruto",
    "net neto",
    "budget presupuesto",
    "category categoria rubro",
    "status estado estatus",
    "seller salesperson rep vendedor",
    "type kind tipo clase",
    "region zone zona",
    "channel canal",
    "segment segmento",
    "country nation pais",
    "city town ciudad municipio",
    "state estado province provincia departamento",
    "product item articulo producto",
    "customer client buyer cliente comprador",
    "supplier vendor proveedor",
    "employee worker empleado trabajador",
    "store shop branch tienda sucursal",
    "payment pago",
    "discount rebate descuento rebaja",
    "date day fecha dia",
    "month mes",
    "year yr ano anio",
    "quarter trimestre",
    "week semana",
    "hour hora",
    "rating score calificacion puntuacion valoracion",
    "delivery shipping shipment entrega envio",
    "order pedido",
    "visit session visita sesion",
    "population inhabitant people poblacion habitante",
    "death fatality deceased muerte defuncion fallecido",
    "birth nacimiento",
    "age edad",
    "gender sex genero sexo",
    "weight mass peso masa",
    "height altura estatura",
    "length longitud largo",
    "width ancho",
    "temperature temp temperatura",
    "rain rainfall precipitation precip lluvia precipitacion",
    "wind viento",
    "speed velocity velocidad",
    "distance distancia",
    "duration runtime duracion",
    "delay retraso demora",
    "salary wage pay salario sueldo",
    "income renta",
    "tax vat impuesto iva",
    "stock inventory existencia inventario",
    "department area division",
    "brand make marca",
    "name nombre",
    "share proportion participacion cuota",
    "rate tasa",
    "percent percentage pct porcentaje",
    "average mean avg promedio media",
    "passenger pasajero",
    "vote voto",
    "unemployment jobless desempleo paro",
    "employment job empleo",
    "user usuario",
    "debt deuda",
    "investment inversion",
    "election eleccion",
    "party partido",
    "school escuela colegio",
    "student pupil alumno estudiante",
    "movie film pelicula",
    "genre genero",
    "origin origen",
    "destination dest destino",
    "source fuente origen",
    "weather clima tiempo",
    "horsepower hp potencia",
    "consumption usage consumo",
    "production output produccion",
    "emission emision",
    "energy energia",
    "electricity electricidad",
    "arrival arr llegada",
    "departure dep salida",
    "car auto coche carro",
    "field campo",
    "citation cita",
    "publisher editorial",
    "breach brecha",
    "collision colision choque",
    "light luz",
    "location ubicacion localizacion lugar",
    "species especie",
    "treatment treat trt tratamiento",
    "grade grado",
    "interest interes",
    "pack package paquete",
    "author autor",
    "language lang idioma lengua",
    "team equipo",
    "player jugador",
    "group grupo",
    "result resultado",
    "method metodo",
    "title titulo",
    "cause causa motivo",
    "education educ educacion",
    "race raza",
    "loan prestamo",
    "crime delito crimen",
    "book libro",
    "dept department departamento",
};

static bool has_word(const char *list, struct al_str word)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if (al_str_eq(word, (struct al_str){p, n}))
            return true;
        p += n + (p[n] ? 1 : 0);
    }
    return false;
}

/* A word or one of its singulars. */
static bool is_of(const char *group, struct al_str word)
{
    char reading[3][64];
    if (has_word(group, word))
        return true;
    size_t n = al_word_singulars(word, reading);
    for (size_t i = 0; i < n; i++)
        if (has_word(group, al_str_of(reading[i])))
            return true;
    return false;
}

int al_word_synonyms(struct al_str word)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        if (is_of(groups[g], word))
            return (int)g;
    return -1;
}

int al_word_synonyms_also(struct al_str word, int group)
{
    for (size_t g = (size_t)(group + 1); group >= 0 && g < sizeof groups / sizeof *groups; g++)
        if (is_of(groups[g], word))
            return (int)g;
    return -1;
}

bool al_word_same(struct al_str a, struct al_str b)
{
    if (al_str_eq(a, b))
        return true;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        if (is_of(groups[g], a) && is_of(groups[g], b))
            return true;
    return false;
}

/* January first, Monday first: English, Spanish, German, French, Portuguese, long and short. */
static const char *const months[] = {
    "january jan enero ene januar janner janvier janv janeiro",
    "february feb febrero februar fevrier fev fevereiro",
    "march mar marzo marz mars mrz marco",
    "april apr abril abr avril avr",
    "may mayo mai maio",
    "june jun junio juni juin junho",
    "july jul julio juli juillet juil julho",
    "august aug agosto ago aout",
    "september sep sept septiembre setiembre set septembre setembro",
    "october oct octubre oktober okt octobre outubro out",
    "november nov noviembre novembre novembro",
    "december dec diciembre dic dezember dez decembre dezembro",
};
static const char *const weekdays[] = {
    "monday mon lunes lun montag mo lundi segunda seg",
    "tuesday tue tues martes dienstag di mardi terca ter",
    "wednesday wed miercoles mie mier mittwoch mercredi mer quarta qua",
    "thursday thu thur thurs jueves jue donnerstag do jeudi jeu quinta qui",
    "friday fri viernes vie freitag fr vendredi ven sexta sex",
    "saturday sat sabado sab samstag sa samedi sam",
    "sunday sun domingo dom sonntag so dimanche dim",
};

static int place_in(const char *const *lists, size_t n, struct al_str folded)
{
    while (folded.n && folded.p[folded.n - 1] == '.')
        folded.n--;
    if (al_str_ends(folded, "-feira"))
        folded.n -= 6;
    for (size_t i = 0; i < n; i++)
        if (has_word(lists[i], folded))
            return (int)i + 1;
    return 0;
}

int al_word_month(struct al_str folded)
{
    return place_in(months, sizeof months / sizeof *months, folded);
}

int al_word_weekday(struct al_str folded)
{
    return place_in(weekdays, sizeof weekdays / sizeof *weekdays, folded);
}
